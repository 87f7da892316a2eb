// What the page knows: the streams of the catalogue, the kept assets, and which asset belongs to which stream.

import { readAssets, readStreams } from './api.js';
import { DownloadPace } from './download-pace.js';

/**
 * Events: `change` when anything did; `activity` with `{asset, former}` when a download began, ended or failed;
 * `stranger` when an asset appeared that no stream is known for.
 */
export class Inventory extends EventTarget {
    streams = [];
    pace = new DownloadPace();
    #assets = new Map();
    #wasRead = false;
    #changes = 0;
    #lastChange = new Map();

    /** The kept assets, newest first. */
    get assets() {
        return [...this.#assets.values()];
    }

    asset(id) {
        return this.#assets.get(id);
    }

    stream(id) {
        return this.streams.find((stream) => stream.id === id);
    }

    /** The kept asset of a stream; by address too: what just began is not yet in the catalogue's answer. */
    assetOf(stream) {
        return this.#assets.get(stream.asset) ?? this.assets.find((asset) => asset.source === stream.url);
    }

    streamOf(asset) {
        return this.streams.find((stream) => stream.asset === asset.id) ?? this.streamAt(asset.source);
    }

    streamAt(address) {
        return this.streams.find((stream) => stream.url === address);
    }

    /** Reads everything from the server. */
    async read() {
        const before = this.#changes;
        const [streams, assets] = await Promise.all([readStreams(), readAssets()]);
        const read = new Map(assets.map((asset) => [asset.id, asset]));
        // An event that came while the answer was on its way is newer than the answer.
        for (const [id, change] of this.#lastChange) {
            if (change <= before) continue;
            const current = this.#assets.get(id);
            if (current) read.set(id, current);
            else read.delete(id);
        }
        const former = this.#assets;
        for (const asset of read.values()) this.pace.note(asset);
        this.streams = streams;
        this.#assets = read;
        this.#tell('change');
        if (this.#wasRead) for (const asset of read.values()) this.#tellActivity(asset, former.get(asset.id));
        this.#wasRead = true;
    }

    /** Takes in an asset the server says has changed. */
    applyAsset(asset) {
        const former = this.#assets.get(asset.id);
        this.#note(asset.id);
        this.pace.note(asset);
        if (former) this.#assets.set(asset.id, asset);
        else this.#assets = new Map([[asset.id, asset], ...this.#assets]);
        this.#tell('change');
        this.#tellActivity(asset, former);
        if (!former && !this.streamOf(asset)) this.#tell('stranger');
    }

    applyRemoval(id) {
        this.#note(id);
        this.pace.forget(id);
        if (this.#assets.delete(id)) this.#tell('change');
    }

    #note(id) {
        this.#changes += 1;
        this.#lastChange.set(id, this.#changes);
    }

    #tellActivity(asset, former) {
        if (former?.activity !== asset.activity) this.#tell('activity', { asset, former });
    }

    #tell(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }
}
