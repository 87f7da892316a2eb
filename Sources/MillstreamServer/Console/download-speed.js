// The speed of downloads. The server counts a file when it is complete, so bytes arrive in bursts, with long pauses
// while several large files load at once. A stalled download, however, must not show an outdated speed.

import { downloadedPercent } from './asset-state.js';

// The interval between two estimates, in seconds; the display would otherwise change five times a second.
const updateInterval = 1;

// The weight of a new measurement in the exponentially weighted moving average.
const weight = 0.4;

// The speed is averaged over at least this many seconds and at least this many typical pauses.
const minimumWindow = 8;
const pausesInWindow = 3;

// The minimum time without bytes that counts as a stall, in seconds; it is longer if the typical pause is longer.
const minimumStall = 5;
// The same before the first bytes, when no typical pause is known.
const initialStall = 15;

const historySeconds = 180;

export class DownloadSpeedEstimator {
    #downloads = new Map();
    #now;

    /** `now` returns the time in seconds. */
    constructor(now = () => performance.now() / 1000) {
        this.#now = now;
    }

    /** Records the size of an asset if it is downloading. */
    record(asset) {
        if (asset.activity !== 'downloading') {
            this.remove(asset.id);
            return;
        }
        const sample = { time: this.#now(), bytes: asset.bytes, percent: downloadedPercent(asset) };
        const samples = this.#downloads.get(asset.id)?.samples;
        // A smaller size means that the download was restarted.
        if (!samples || sample.bytes < samples.at(-1).bytes) {
            this.#downloads.set(asset.id, { start: sample, samples: [sample], estimate: undefined });
        } else if (sample.bytes > samples.at(-1).bytes) {
            samples.push(sample);
            while (samples[0].time < sample.time - historySeconds) samples.shift();
        }
    }

    remove(id) {
        this.#downloads.delete(id);
    }

    /** Whether any download is running, so that estimates change with time even if no bytes arrive. */
    get isActive() {
        return this.#downloads.size > 0;
    }

    /** Returns `{bytesPerSecond, secondsLeft, secondsStalled}`, each `undefined` if it is unknown. */
    estimate(id) {
        const download = this.#downloads.get(id);
        if (!download) return {};
        const now = this.#now();
        if (!download.estimate || now - download.estimate.time >= updateInterval) {
            download.estimate = { time: now, ...estimate(download, now) };
        }
        return download.estimate;
    }
}

function estimate({ start, samples, estimate: previous }, now) {
    const last = samples.at(-1);
    const idleTime = now - last.time;
    const pause = typicalPause(samples);
    const stallThreshold = samples.length === 1 ? initialStall : Math.max(minimumStall, 1.5 * pause);
    if (idleTime >= stallThreshold) return { secondsStalled: idleTime };

    // The first sample of the window, or the first after the last stall: a stall must not lower the speed after it.
    const window = Math.max(minimumWindow, pausesInWindow * pause);
    let index = samples.length - 1;
    while (index > 0 && samples[index].time - samples[index - 1].time < stallThreshold
        && last.time - samples[index - 1].time <= window) index -= 1;
    const first = samples[index];

    // Counts the time since the last sample beyond a typical pause, so that the speed falls while no bytes arrive.
    const elapsed = last.time - first.time + Math.max(0, idleTime - pause);
    if (first === last || elapsed < updateInterval / 2) return {};
    const measured = (last.bytes - first.bytes) / elapsed;
    const bytesPerSecond = previous?.bytesPerSecond === undefined ? measured
        : previous.bytesPerSecond * (1 - weight) + measured * weight;
    if (start.percent === null || last.percent === null || last.percent <= start.percent) return { bytesPerSecond };
    // Assumes that the rest has as many bytes per percent as the part already downloaded.
    const bytesPerPercent = (last.bytes - start.bytes) / (last.percent - start.percent);
    return { bytesPerSecond, secondsLeft: (100 - last.percent) * bytesPerPercent / bytesPerSecond };
}

/** Returns the second longest pause between samples; the longest one may be a stall. */
function typicalPause(samples) {
    let [longest, second] = [0, 0];
    for (let index = 1; index < samples.length; index += 1) {
        const pause = samples[index].time - samples[index - 1].time;
        if (pause > longest) [longest, second] = [pause, longest];
        else if (pause > second) second = pause;
    }
    return second;
}
