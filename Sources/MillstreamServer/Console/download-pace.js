// How fast downloads go. The server tells bytes and percent; the speed is what a person wants to know.

import { percentOf } from './asset-state.js';

// Weight of the newest measurement. Segments arrive in bursts; a heavier weight makes the figure jump.
const weight = 0.25;
const shortestInterval = 0.4;

export class DownloadPace {
    #samples = new Map();

    note(asset) {
        if (asset.activity !== 'downloading') {
            this.forget(asset.id);
            return;
        }
        const now = performance.now() / 1000;
        const percent = percentOf(asset);
        const sample = this.#samples.get(asset.id);
        if (!sample) {
            this.#samples.set(asset.id, { time: now, bytes: asset.bytes, percent });
            return;
        }
        const elapsed = now - sample.time;
        if (elapsed < shortestInterval) return;
        sample.bytesPerSecond = blend(sample.bytesPerSecond, (asset.bytes - sample.bytes) / elapsed);
        if (percent !== null && sample.percent !== null) {
            sample.percentPerSecond = blend(sample.percentPerSecond, (percent - sample.percent) / elapsed);
        }
        Object.assign(sample, { time: now, bytes: asset.bytes, percent });
    }

    forget(id) {
        this.#samples.delete(id);
    }

    /** Bytes a second, `undefined` before there are two measurements. */
    bytesPerSecond(id) {
        return this.#samples.get(id)?.bytesPerSecond;
    }

    /** Seconds left, `undefined` where they cannot be guessed. */
    secondsLeft(id) {
        const sample = this.#samples.get(id);
        return sample?.percentPerSecond > 0 ? (100 - sample.percent) / sample.percentPerSecond : undefined;
    }
}

function blend(former, measured) {
    return former === undefined ? measured : former * (1 - weight) + measured * weight;
}
