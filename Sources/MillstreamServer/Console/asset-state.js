// What an asset's fields say when read together.

import { sentenceOf } from './sentence.js';

/** "remote" (nothing is kept), "downloading", "kept", "failed" or "partial". */
export function stateOf(asset) {
    if (!asset) return 'remote';
    if (asset.activity === 'downloading') return 'downloading';
    if (asset.state === 'complete') return 'kept';
    return asset.activity === 'failed' ? 'failed' : 'partial';
}

/** How much of an asset is kept (0 to 100), or `null` where nobody knows yet. */
export function percentOf(asset) {
    if (Number.isFinite(asset.percent)) return Math.min(100, Math.max(0, asset.percent));
    if (!(asset.expected > 0) || !asset.loadedTimeRanges) return null;
    const loaded = asset.loadedTimeRanges.reduce((sum, [start, end]) => sum + (end - start), 0);
    return Math.min(100, (100 * loaded) / asset.expected);
}

/** What stopped the last download, for a person; nothing when it did not fail. */
export function problemOf(asset) {
    if (asset?.activity !== 'failed') return '';
    return asset.error ? sentenceOf(asset.error) : 'The download failed.';
}
