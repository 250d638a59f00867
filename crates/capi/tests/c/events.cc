// C++: includes the header twice, and records into the stream of the environment or, without one, into a new stream.
#include "tracewell.h"
#include "tracewell.h"

#include <cstdint>
#include <cstdio>
#include <string>

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    const std::string folder = argv[1];
    tw_stream *stream = nullptr;
    const bool given = tw_stream_from_environment(&stream) == TW_OK;
    if (!given && tw_stream_create((folder + "/cc").c_str(), nullptr, &stream) != TW_OK)
        return 3;
    tw_event step{};
    if (tw_define(stream, 1, "cc/step(number:u64)", &step) != TW_OK)
        return 4;
    if (!given)
        tw_stream_start(stream);
    for (std::uint64_t number = 0; number < 3; ++number)
        if (tw_record(stream, step, &number, 1) != TW_OK)
            return 5;
    tw_stream_close(stream);
    return 0;
}
