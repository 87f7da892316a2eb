// The network conditions of the server and of its links, which all parts of the page follow with the same requests.

import { changeConditions, fetchConditions } from './api.js';

const intervalMilliseconds = 1000;
/** The number of intervals between requests while no part of the page needs each report. */
const idleIntervals = 5;

/** Event: `change` with each report of the server. */
export class ServerConditions extends EventTarget {
    /** The names of all conditions. */
    presets = [];
    /** The conditions of all streams without conditions of their own. */
    shared = '';
    /** `[{id, url, named, conditions, default, transmittedBytes}]`. */
    links = [];
    // Whether a part of the page needs a report in each interval.
    #isWatched;
    #changeCount = 0;
    #pendingChanges = 0;
    #intervals = 0;

    constructor(isWatched) {
        super();
        this.#isWatched = isWatched;
        setInterval(() => {
            this.#intervals += 1;
            if (document.hidden || (!this.#isWatched() && this.#intervals % idleIntervals !== 0)) return;
            this.load().catch(() => {});
        }, intervalMilliseconds);
    }

    /** Loads the conditions. A report that a change made obsolete is discarded. */
    async load() {
        if (this.#pendingChanges > 0) return;
        const count = this.#changeCount;
        const report = await fetchConditions();
        if (count === this.#changeCount) this.#update(report);
    }

    /** Changes the conditions of the link with the identifier `link`, or those of all streams without conditions. */
    async change({ link, conditions }) {
        const count = this.#changeCount += 1;
        this.#pendingChanges += 1;
        try {
            const report = await changeConditions({ link, conditions });
            if (count === this.#changeCount) this.#update(report);
        } finally {
            this.#pendingChanges -= 1;
        }
    }

    #update({ presets = [], shared, links = [] }) {
        Object.assign(this, { presets, shared, links });
        this.dispatchEvent(new Event('change'));
    }
}
