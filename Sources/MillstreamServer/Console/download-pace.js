// How fast downloads go. The server counts a file when it is complete, so bytes arrive in bursts, and with several
// large files at once the pauses between bursts are long; yet a download that stalls must not go on showing an old
// speed.

import { percentOf } from './asset-state.js';

// Figures are made anew this often: five times a second nobody can read them.
const figureSeconds = 1;

// Weight of the newest figure.
const weight = 0.4;

// At least this stretch is averaged over, and at least this many of the usual pauses.
const shortestWindow = 8;
const pausesInWindow = 3;

// Nothing for this long is a stall, where longer pauses are not usual.
const shortestStall = 5;
// Before anything came nobody knows what is usual.
const firstStall = 15;

const secondsRemembered = 180;

export class DownloadPace {
    #downloads = new Map();
    #now;

    /** `now` tells the time in seconds. */
    constructor(now = () => performance.now() / 1000) {
        this.#now = now;
    }

    note(asset) {
        if (asset.activity !== 'downloading') {
            this.forget(asset.id);
            return;
        }
        const arrival = { time: this.#now(), bytes: asset.bytes, percent: percentOf(asset) };
        const arrivals = this.#downloads.get(asset.id)?.arrivals;
        // Fewer bytes: it began anew.
        if (!arrivals || arrival.bytes < arrivals.at(-1).bytes) {
            this.#downloads.set(asset.id, { start: arrival, arrivals: [arrival], figure: undefined });
        } else if (arrival.bytes > arrivals.at(-1).bytes) {
            arrivals.push(arrival);
            while (arrivals[0].time < arrival.time - secondsRemembered) arrivals.shift();
        }
    }

    forget(id) {
        this.#downloads.delete(id);
    }

    /** Whether a download is watched: its figures change even while nothing comes. */
    get isWatching() {
        return this.#downloads.size > 0;
    }

    /** `{bytesPerSecond, secondsLeft, secondsStalled}`, each `undefined` where it cannot be said. */
    figureOf(id) {
        const download = this.#downloads.get(id);
        if (!download) return {};
        const now = this.#now();
        if (!download.figure || now - download.figure.time >= figureSeconds) {
            download.figure = { time: now, ...measure(download, now) };
        }
        return download.figure;
    }
}

function measure({ start, arrivals, figure: former }, now) {
    const last = arrivals.at(-1);
    const silence = now - last.time;
    const pause = usualPause(arrivals);
    const patience = arrivals.length === 1 ? firstStall : Math.max(shortestStall, 1.5 * pause);
    if (silence >= patience) return { secondsStalled: silence };

    // Back to the beginning of the window, or to the last stall: its time says nothing about the speed after it.
    const window = Math.max(shortestWindow, pausesInWindow * pause);
    let index = arrivals.length - 1;
    while (index > 0 && arrivals[index].time - arrivals[index - 1].time < patience
        && last.time - arrivals[index - 1].time <= window) index -= 1;
    const first = arrivals[index];

    // Up to now, not up to the last arrival: while nothing comes the speed goes down. A usual pause is no slowing.
    const elapsed = last.time - first.time + Math.max(0, silence - pause);
    if (first === last || elapsed < figureSeconds / 2) return {};
    const measured = (last.bytes - first.bytes) / elapsed;
    const bytesPerSecond = former?.bytesPerSecond === undefined ? measured
        : former.bytesPerSecond * (1 - weight) + measured * weight;
    if (start.percent === null || last.percent === null || last.percent <= start.percent) return { bytesPerSecond };
    // What is left has as many bytes a percent as what came.
    const bytesPerPercent = (last.bytes - start.bytes) / (last.percent - start.percent);
    return { bytesPerSecond, secondsLeft: (100 - last.percent) * bytesPerPercent / bytesPerSecond };
}

/** The second longest pause between arrivals: one alone may have been a stall, two are a habit. */
function usualPause(arrivals) {
    let [longest, second] = [0, 0];
    for (let index = 1; index < arrivals.length; index += 1) {
        const pause = arrivals[index].time - arrivals[index - 1].time;
        if (pause > longest) [longest, second] = [pause, longest];
        else if (pause > second) second = pause;
    }
    return second;
}
