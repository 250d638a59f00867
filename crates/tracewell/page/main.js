// Starts a page that contains its trace, or that a server sends.

import { Live } from "./live.js";
import { named, show } from "./page.js";
import { ServerMarks, fetched, inflated, payload } from "./source.js";

async function start() {
    const data = named("payload");
    const text = data.textContent ?? "";
    data.remove();
    const view = (/** @type {string} */ query) => fetched(`view?${query}`);
    if (text.trim() !== "") {
        show(payload(await inflated(text)), null, view);
        return;
    }
    const live = new Live(named("progress"), named("pause"));
    const content = await fetched("page");
    const page = show(content, new ServerMarks(), view);
    live.follow(content.edition, async () => {
        const next = await fetched("page");
        page.update(next);
        return next.edition;
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
