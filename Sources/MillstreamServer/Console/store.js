// The state of the page: the streams of the catalog, the downloaded assets, and how they are related.

import { fetchAssets, fetchStreams } from './api.js';
import { DownloadSpeedEstimator } from './download-speed.js';

/**
 * Events: `change` after any change; `activity` with `{asset, previous}` when a download has started, ended or failed;
 * `unknown-asset` when an asset was added whose stream is not known.
 */
export class Store extends EventTarget {
    streams = [];
    downloadSpeed = new DownloadSpeedEstimator();
    #assets = new Map();
    // The disk space of the assets by their identifiers.
    #diskSizes = new Map();
    #isLoaded = false;
    #changeCount = 0;
    #lastChange = new Map();

    /** The assets, newest first. */
    get assets() {
        return [...this.#assets.values()];
    }

    asset(id) {
        return this.#assets.get(id);
    }

    stream(id) {
        return this.streams.find((stream) => stream.id === id);
    }

    /** Returns the asset of a stream, also by its URL: `stream.asset` of a new download is not set before a reload. */
    assetForStream(stream) {
        // A download has the stream at its origin, without edits.
        if (stream.edits?.length > 0) return undefined;
        return this.#assets.get(stream.asset) ?? this.assets.find((asset) => asset.source === stream.url);
    }

    streamForAsset(asset) {
        return this.streams.find((stream) => stream.asset === asset.id) ?? this.streamForURL(asset.source);
    }

    streamForURL(url) {
        return this.streams.find((stream) => stream.url === url && stream.edits.length === 0);
    }

    /** Loads the streams and assets from the server. */
    async load() {
        const firstChange = this.#changeCount;
        const [streams, assets] = await Promise.all([fetchStreams(), fetchAssets()]);
        const loaded = new Map(assets.map((asset) => [asset.id, asset]));
        // Events that arrived during the requests are newer than the responses.
        for (const [id, change] of this.#lastChange) {
            if (change <= firstChange) continue;
            const current = this.#assets.get(id);
            if (current) loaded.set(id, current);
            else loaded.delete(id);
        }
        const previous = this.#assets;
        for (const asset of loaded.values()) this.downloadSpeed.record(asset);
        this.streams = streams;
        this.#assets = loaded;
        this.#dispatch('change');
        if (this.#isLoaded) {
            for (const asset of loaded.values()) this.#dispatchActivity(asset, previous.get(asset.id));
        }
        this.#isLoaded = true;
    }

    /** Adds or replaces an asset that the server has reported as changed. */
    updateAsset(asset) {
        const previous = this.#assets.get(asset.id);
        this.#recordChange(asset.id);
        this.downloadSpeed.record(asset);
        if (previous) this.#assets.set(asset.id, asset);
        else this.#assets = new Map([[asset.id, asset], ...this.#assets]);
        this.#dispatch('change');
        this.#dispatchActivity(asset, previous);
        if (!previous && !this.streamForAsset(asset)) this.#dispatch('unknown-asset');
    }

    /** Returns the disk space of an asset, which is the size that the command line lists; that of its files until it is known. */
    size({ id, bytes }) {
        return this.#diskSizes.get(id) ?? bytes;
    }

    /** Replaces the disk space of all assets. */
    updateDiskSizes(assets) {
        this.#diskSizes = new Map(assets.map(({ id, bytes }) => [id, bytes]));
        this.#dispatch('change');
    }

    removeAsset(id) {
        this.#recordChange(id);
        this.downloadSpeed.remove(id);
        if (this.#assets.delete(id)) this.#dispatch('change');
    }

    #recordChange(id) {
        this.#changeCount += 1;
        this.#lastChange.set(id, this.#changeCount);
    }

    #dispatchActivity(asset, previous) {
        if (previous?.activity !== asset.activity) this.#dispatch('activity', { asset, previous });
    }

    #dispatch(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }
}
