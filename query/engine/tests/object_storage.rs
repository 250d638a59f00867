//! Tests a lake in object storage, with the server moto. Without moto, the test fails in CI;
//! elsewhere, it reports that it is skipped.

#[allow(unreachable_pub, reason = "a test of the cluster uses it too")]
mod moto;

use moto::Server;

const QUERY: &str = env!("CARGO_BIN_EXE_tracewell-query");
const INGEST: &str = env!("CARGO_BIN_EXE_tracewell-ingest");

#[test]
fn a_lake_can_be_in_object_storage() {
    let Some(server) = Server::start() else { return };
    let files = "crates/tracewell/tests/fixtures/shark/*.dat";
    let lake = "s3://traces/some/lake";
    // Several writers add the same traces.
    let arguments = [files, "-o", lake, "--keep-raw"];
    let writers: Vec<_> =
        (0..3).map(|_| server.command(INGEST, &arguments).spawn().unwrap()).collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        let status = output.status.code();
        // One of the traces is damaged.
        assert!(matches!(status, Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for query in ["worst-responses", "load-by-context", "longest-waits", "losses-by-trace"] {
        let run = ["--run", query, lake];
        let of_files = server.command(QUERY, &["--run", query, files]).output().unwrap();
        let of_files = String::from_utf8(of_files.stdout).unwrap();
        assert!(of_files.lines().count() > 1, "{query}");
        assert_eq!(server.printed(QUERY, &run), of_files, "{query}");
    }
    let sql = format!(
        "SELECT count(*) > 3 AS many FROM traces('{lake}') HAVING count(*) = \
                       count(DISTINCT trace)"
    );
    assert_eq!(server.printed(QUERY, &[&sql, "--format", "csv"]), "many\ntrue\n");
}
