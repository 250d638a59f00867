// Starts a page that contains its trace, or a page that a server sends.

import { SERVER } from "./asks.js";
import { Live } from "./live.js";
import { named, show } from "./page.js";
import { loadFonts } from "./paint.js";
import { Several } from "./several.js";
import { ServerMarks, fetched, fetchedJson, inflated, payload } from "./source.js";
import { offsetsIn } from "./view.js";

/** Content from the server. @typedef {Awaited<ReturnType<typeof fetched>>} Edition */

async function start() {
    const data = named("payload");
    const text = data.textContent ?? "";
    data.remove();
    const view = (/** @type {string} */ query) => fetched(`view?${query}`);
    if (text.trim() !== "") {
        show(payload(await inflated(text)), null, view, null);
        return;
    }
    const live = new Live(named("progress"), named("pause"));
    const early = Promise.all([fetchedJson("trace"), fetched("page?first=1")]);
    loadFonts();
    const [{ files, editions }, begun] = await early;
    if (files.length > 1) {
        await startSeveral(files, begun, editions, live);
        return;
    }
    const content = await enough(begun, "", editions[0]);
    const page = show(content, new ServerMarks(), view, SERVER);
    live.watch((isReading) => page.reading(isReading));
    await firstPicture();
    live.follow(content.edition, async () => {
        // A view for the width of this window. Without it, a wide window would show a coarse view after each edition.
        const next = await fetched(`page?so_far=1&parts=${page.parts}`);
        page.update(next);
        return next.edition;
    });
}

/**
 * Returns the content for the first picture of a file. While the server reads the trace for the first time, this is the part that it has
 * read so far, which is `begun`. If the whole trace is long, `begun` is a view with an earlier edition, so the page then loads the whole trace.
 * @param {Edition} begun
 * @param {string} file parameter of the requests, if there are several files
 * @param {number} newest edition on the server
 */
async function enough(begun, file, newest) {
    // The address of a page with the whole trace contains numbers that a view does not have.
    const needsWhole = location.hash.length > 1 && begun.edition < newest;
    return needsWhole ? fetched(`page?so_far=1${file}`) : begun;
}

/** Resolves when the browser has shown the next frame. Before that, the page must not load a long payload, which would delay this frame. */
function firstPicture() {
    return new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
}

/**
 * Shows several files. The page keeps marks in its address, because one mark may belong to several files.
 * @param {string[]} titles
 * @param {Edition} begun content of the first file
 * @param {number[]} newest editions on the server
 * @param {Live} live
 */
async function startSeveral(titles, begun, newest, live) {
    const contents = await Promise.all(titles.map(async (_, file) => {
        const own = file === 0 ? begun : await fetched(`page?first=1&file=${file}`);
        return enough(own, `&file=${file}`, newest[file]);
    }));
    const editions = contents.map(({ edition }) => edition);
    const several = new Several(contents, titles);
    const none = async () => Promise.reject(new Error("views of parts need a page with a single file"));
    const page = show(several.content(offsetsIn(location.hash.slice(1))), null, none, null, several);
    const sum = () => editions.reduce((all, edition) => all + edition, 0);
    await firstPicture();
    live.follow(sum(), async () => {
        for (const [file, edition] of live.editions.entries()) {
            if (edition === editions[file]) continue;
            const next = await fetched(`page?so_far=1&file=${file}`);
            editions[file] = next.edition;
            several.replace(file, next);
        }
        page.refresh();
        return sum();
    });
}

if (typeof document !== "undefined") {
    start().catch((error) => {
        const problem = named("problem");
        problem.textContent = `This page cannot show its trace: ${error.message}`;
        problem.hidden = false;
        throw error;
    });
}
