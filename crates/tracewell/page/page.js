// The page of a trace: creates its parts, and draws them after each change. `main.js` and `drop.js` start it.

import { describeEvent, describeRow, describeSpan } from "./describe.js";
import { Detail, FIRST_PARTS, NO_SEQUENCE, READING, unlisted } from "./detail.js";
import { Details } from "./details.js";
import { element } from "./elements.js";
import { EventList } from "./events.js";
import { Exact } from "./exact.js";
import { Filter } from "./filter.js";
import { Figures } from "./figures.js";
import { DistributionPanel } from "./histogram.js";
import { isGone, readFrom, written } from "./identity.js";
import { Keys } from "./keys.js";
import { LargeFigures } from "./large.js";
import { Marking } from "./marking.js";
import { Model } from "./model.js";
import { Notice } from "./notice.js";
import { Offsets } from "./offsets.js";
import { AXIS } from "./overlays.js";
import { Overview } from "./overview.js";
import { Pace, REST } from "./pace.js";
import { sizeOf } from "./paint.js";
import { Places } from "./places.js";
import { Roving, describeFramed } from "./roving.js";
import { contextOrder } from "./rows.js";
import { Search } from "./search.js";
import { Seeker } from "./seeker.js";
import { Splitters } from "./splitters.js";
import { FigurePanel } from "./tables.js";
import { Tabs } from "./tabs.js";
import { Theme, contextColours } from "./theme.js";
import { duration } from "./time.js";
import { Timeline } from "./timeline.js";
import { View, offsetsIn } from "./view.js";
import { counted } from "./words.js";

/**
 * A payload: the facts of a trace, and its columns.
 * @typedef {{ header: any, columns: Map<string, import("./source.js").Column> }} Content
 */

/**
 * Returns the element with an id.
 * @template {HTMLElement} T
 * @param {string} id
 * @returns {T}
 */
export function named(id) {
    const node = document.getElementById(id);
    if (!node) throw new Error(`the page has no element ${id}`);
    return /** @type {T} */ (node);
}

/** Writes the title and the facts of the trace. @param {Model} model */
function head(model) {
    const { header, clock } = model;
    named("title").textContent = header.title;
    const parts = [header.format, counted(model.part || header.isReading ? header.events : model.events.count, "event")];
    const span = model.span(0, model.length);
    const isWhole = model.files.length > 0 || (header.from === "0" && header.until === header.span);
    parts.push(isWhole ? span : `${span} of a longer trace`);
    if (clock.isKnown) {
        const { count, seconds } = clock.rates[0];
        const hertz = Number(count) / Number(seconds);
        const [unit, factor] = hertz >= 1e6 ? ["MHz", 1e6] : hertz >= 1e3 ? ["kHz", 1e3] : ["Hz", 1];
        parts.push(`${+(hertz / Number(factor)).toFixed(3)} ${unit}`);
    } else {
        parts.push("clock rate unknown");
    }
    const losses = header.losses.map((/** @type {any} */ loss) => {
        if (loss.events > 0 && loss.unknown === 0) return `${counted(loss.events, "event")} (${loss.cause})`;
        return `${counted(loss.gaps, "gap")} of unknown size (${loss.cause})`;
    });
    const facts = named("facts");
    // In a narrow window, the end of the line is cut, so a loss comes first.
    const hidden = model.hidden.length > 0 ? "not all recorded" : "nothing lost";
    facts.replaceChildren(...losses.length > 0 ? [element("b", [`lost: ${losses.join(", ")}`]), " · "] : [], parts.join(" · "),
        losses.length > 0 ? "" : ` · ${hidden}`);
    facts.title = facts.textContent ?? "";
}

/** Describes the selection for screen readers. @param {Timeline} timeline */
function announce(timeline) {
    const { model, view: { selection } } = timeline;
    const text = timeline.framed !== "" ? describeFramed(timeline) : !selection ? "" : "row" in selection ? describeSpan(model, selection)
        : "event" in selection ? describeEvent(model, selection.event) : describeRow(model, selection.whole);
    const status = named("status");
    if (status.textContent !== text) status.textContent = text;
}

/**
 * Shows a trace.
 * @param {Content} content the whole trace
 * @param {import("./marking.js").Store | null} store for the marks of the user
 * @param {(query: string) => Promise<Content>} load returns a view of a trace that is too large for one payload
 * @param {import("./asks.js").Asks | null} asks answers requests about such a trace as a whole
 * @param {import("./several.js").Several | null} [several] the files, if the content combines several
 */
export function show(content, store, load, asks, several = null) {
    const { header, columns } = content;
    const model = new Model(header, columns);
    const view = new View(model.length, model.events.at);
    /** The colours of contexts, in the current theme. @type {string[]} */
    const contexts = [];
    document.title = header.title;
    const sequenceTitle = named("sequence").title;
    let isPlanned = false;
    const plan = () => {
        if (isPlanned) return;
        isPlanned = true;
        requestAnimationFrame(() => {
            isPlanned = false;
            draw();
        });
    };
    const theme = new Theme(plan);
    /** @type {HTMLCanvasElement} */
    const canvas = named("timeline");
    const timeline = new Timeline(canvas, named("tip"), named("hair"), model, view, theme, contexts);
    const overview = new Overview(named("overview"), timeline);
    const places = new Places(timeline);
    const marking = new Marking(timeline, named("progress"), store);
    /** Draws the figures of a large trace, which have arrived. */
    const arrived = () => {
        details.refill();
        figures.refill();
        plan();
    };
    const exact = new Exact(asks, arrived);
    const ownFigures = new Figures(places);
    const large = () => {
        const json = exact.ofWhole().json ?? ownFigures.files[0]?.json;
        return json ? new LargeFigures(ownFigures, json) : null;
    };
    const details = new Details(named("details"), timeline, places, marking, exact, large);
    const figures = new FigurePanel(named("figures"), ownFigures, exact);
    const histograms = new DistributionPanel(named("distributions"), places, exact);
    const list = new EventList(named("scroller"), named("lines"), timeline);
    const seeker = new Seeker(asks, () => {
        search.showFound();
        plan();
    });
    const search = new Search(named("query"), named("matches"), named("offers"), list, overview, places, seeker);
    const filter = new Filter(named("filter"), named("accepted"), list, () => {
        list.refill();
        search.refill();
    });
    timeline.actions = { inversion: (i) => places.inversion(i), mark: (mark) => marking.change(mark) };
    view.identity = {
        of: (selection) => model.selected(selection), found: (selected) => model.found(selected),
        // The address of a page with the whole trace is shorter: it contains numbers of rows and spans.
        written: (identity) => (identity && model.part ? written(identity) : null), read: readFrom,
    };
    const notice = new Notice(named("count"), () => {
        if (model.header.isReading) return READING;
        return model.part && !model.part.listed ? unlisted(model.part) : list.heading();
    });
    const tabs = new Tabs(named("bar"), (name) => {
        view.tab = name;
        view.changed();
    });
    const offsets = new Offsets(timeline, named("offsets"));
    const keys = new Keys(timeline, list, search, filter, new Roving(timeline, places), tabs, marking, offsets, named("keys"), notice);
    // Numbers of events and spans in a part would name others in the next part.
    const exists = (/** @type {any} */ selection) => ("whole" in selection ? selection.whole < model.rows.length
        : !model.part && ("event" in selection ? selection.event < model.events.count
            : selection.span < (model.rows[selection.row]?.spans.count ?? 0)));
    const recolour = () => {
        const order = contextOrder(model).map((/** @type {any} */ row) => row.context);
        contexts.splice(0, contexts.length, ...contextColours(model.contexts, order, theme.colours));
    };
    const read = () => {
        view.offsets = several ? offsetsIn(location.hash.slice(1)) : [];
        move();
        view.restore(location.hash.slice(1), model.origin, exists);
        tabs.choose(view.tab);
    };
    /** The colours of the theme for which `contexts` was computed. @type {import("./theme.js").Colours | null} */
    let coloured = null;
    let shownAddress = "";
    /** True after the first picture. */
    let isDrawn = false;
    /** True after the first update of lists, tables and the address. */
    let isFollowed = false;
    const pace = new Pace();
    /** The timer for another frame, which updates the texts if the movement has ended. */
    let settling = 0;
    /** Updates lists, tables and the address. */
    const follow = () => {
        details.draw();
        figures.draw();
        histograms.draw();
        search.show();
        announce(timeline);
        notice.draw();
        named("back").toggleAttribute("disabled", view.past.length === 0);
        named("forward").toggleAttribute("disabled", view.future.length === 0);
        const address = view.address((offset) => model.exact(offset));
        if (address !== shownAddress && isFollowed) history.replaceState(null, "", `#${address}`);
        shownAddress = address;
        isFollowed = true;
        const sequence = named("sequence");
        sequence.setAttribute("aria-pressed", String(view.isSequence));
        sequence.toggleAttribute("disabled", !view.canSequence);
        const title = view.canSequence && (view.isSequence || !view.wantsSequence) ? sequenceTitle : NO_SEQUENCE;
        if (sequence.title !== title) sequence.title = title;
    };
    const draw = () => {
        const begun = performance.now();
        move();
        filter.draw();
        if (theme.colours !== coloured) recolour();
        coloured = theme.colours;
        // Reading a size after a change of the page would make the browser compute the layout once more.
        timeline.size = sizeOf(canvas);
        overview.size = sizeOf(overview.canvas);
        clearTimeout(settling);
        const isMoving = pace.isMoving(view, [view.selection, view.range, view.cursor, view.tab, view.length, view.filter], begun);
        // Lists and tables follow in the next frame, so that the first picture appears earlier.
        const follows = isDrawn && !isMoving;
        if (isMoving) settling = setTimeout(plan, REST);
        else if (!isDrawn) plan();
        // To scroll the list, the browser needs the layout. Scroll before other changes of the
        // page, which would make the browser compute the layout again.
        else if (view.tab === "events") list.follow();
        // The timeline places the line at the pointer. Drawing a text after this change would make the browser compute the style.
        // The overview also follows in the next frame.
        if (isDrawn) overview.draw();
        timeline.draw();
        if (follows) follow();
        detail.check(model);
        if (follows) pace.cost = performance.now() - begun;
        isDrawn = true;
        document.documentElement.dataset.lanes = String(timeline.visible(timeline.size.height).length);
        document.documentElement.dataset.frame = (performance.now() - begun).toFixed(2);
        document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn ?? 0) + 1);
    };
    const headings = () => {
        head(model);
        notice.draw();
    };
    /** Replaces the content of the page. @param {Content} next */
    const refill = (next) => {
        // Only the first view of a large trace contains the figures of the whole trace.
        const known = model.columns.get("figures");
        if (next.header.part && known && !next.columns.has("figures")) next.columns.set("figures", known);
        const selected = model.selected(view.selection) ?? view.sought;
        model.fill(next.header, next.columns);
        recolour();
        // The new content may lack the selection. Another part of a large trace can contain it.
        view.seek(selected);
        if (view.sought && (!model.part || isGone(model, view.sought))) view.sought = null;
        view.refill(model.events.at);
        timeline.refill();
        splitters.fit();
        filter.refill();
        details.refill();
        figures.refill();
        histograms.refill();
        if (model.part) search.refill();
        headings();
    };
    /** Moves the files to their offsets. */
    const move = () => {
        if (!several || several.has(view.offsets)) return;
        const { origin } = model;
        const next = several.content(view.offsets);
        refill(next);
        view.moveOrigin(Number(model.origin - origin), model.length);
        whole();
    };
    const detail = new Detail(view, () => timeline.width, () => timeline.loadWidth, async (query) => {
        try {
            refill(await load(query));
            plan();
        } catch (error) {
            named("progress").textContent = /** @type {Error} */ (error).message;
        }
    });
    const whole = () => {
        overview.cache = null;
        // The model of the visible part gets a new content with each view, but its parts do not change.
        timeline.whole = overview.whole = model.part ? model.copy() : null;
    };
    /** Forgets what the server or the worker found out about a large trace, because the trace has changed. */
    const forget = () => {
        exact.clear();
        seeker.again();
    };
    const splitters = new Splitters({
        bar: named("splitter"), divider: named("divider"), main: named("picture").parentElement ?? document.body,
        list: named("list"), side: named("details"),
    }, () => canvas.offsetTop + AXIS + timeline.natural, () => timeline.spare);
    splitters.fit();
    whole();
    headings();
    view.listeners.push(plan);
    view.keepsMarks = store === null;
    read();
    marking.load();
    addEventListener("hashchange", read);
    new ResizeObserver(plan).observe(canvas);
    const buttons = {
        back: () => view.back(), forward: () => view.forward(), fit: () => view.fit(),
        sequence: () => view.toggleSequence(),
        theme: () => theme.toggle(), help: () => keys.help(),
    };
    for (const [id, action] of Object.entries(buttons)) named(id).addEventListener("click", action);
    canvas.focus();
    plan();
    return {
        /** Number of parts of a view that is as fine as the timeline. */
        get parts() {
            return Math.max(timeline.width, FIRST_PARTS);
        },
        /** Replaces the content with newer content of the same trace. @param {Content} next */
        update(next) {
            refill(next);
            whole();
            forget();
            view.resize(model.length);
        },
        /** States whether the server still reads the trace. @param {boolean} isReading */
        reading(isReading) {
            if (isReading === exact.isReading) return;
            exact.isReading = isReading;
            arrived();
        },
        /** Shows the newest content of several files. */
        refresh() {
            move();
            view.resize(model.length);
        },
        /** Replaces the content with that of another trace. @param {Content} next */
        replace(next) {
            search.clear();
            refill(next);
            whole();
            exact.clear();
            view.reset(model.length);
            document.title = next.header.title;
        },
    };
}
