// The state of an asset, derived from several of its fields.

import { errorMessage } from './error-message.js';
import { formatTime } from './format.js';

/** Returns "remote" (nothing is downloaded), "downloading", "recording", "waiting", "paused", "downloaded", "failed" or "partial". */
export function assetState(asset) {
    if (!asset) return 'remote';
    if (['downloading', 'recording', 'waiting'].includes(asset.activity)) return asset.activity;
    if (asset.recording) {
        // What is stored of a recording is a complete asset, also while the recording is paused.
        if (['failed', 'paused'].includes(asset.activity)) return asset.activity;
        if (asset.task?.state === 'interrupted') return 'partial';
    }
    if (asset.state === 'complete') return 'downloaded';
    return ['failed', 'paused'].includes(asset.activity) ? asset.activity : 'partial';
}

/** Returns the text for the state of a complete download, which can be that of a part of the stream. */
export function downloadedText({ range }) {
    if (!range) return 'Downloaded';
    const { start = 0, end } = range;
    return end === undefined ? `Part from ${formatTime(start)}` : `Part ${formatTime(start)} to ${formatTime(end)}`;
}

/** The states in which a process works on an asset, or will. */
const activeStates = ['downloading', 'recording', 'waiting', 'paused'];

/** Whether another process, such as “millstream record”, manages the download of an asset, so that the console can only resume it. */
export function isManagedElsewhere(asset) {
    return Boolean(asset?.task?.attended) && activeStates.includes(assetState(asset));
}

/** Whether the download of an asset is resumed as it is; otherwise another one completes the asset in the selected quality. */
export function isResumable(asset) {
    return assetState(asset) === 'paused' || Boolean(asset.recording) || asset.task?.state === 'interrupted';
}

/** Returns what the download of an asset is called: “recording” or “download”. */
export function downloadKind(asset) {
    return asset?.recording ? 'recording' : 'download';
}

/** Returns the text for the process of a download or a recording that is not the server: “Recording in another process”. */
export function elsewhereText(asset, text) {
    return isManagedElsewhere(asset) ? `${text} in another process` : text;
}

/** Returns how much of an asset is downloaded, 0 to 100, or `null` while the total is unknown. */
export function downloadedPercent(asset) {
    if (Number.isFinite(asset.percent)) return Math.min(100, Math.max(0, asset.percent));
    if (!(asset.expected > 0) || !asset.loadedTimeRanges) return null;
    const loaded = asset.loadedTimeRanges.reduce((sum, [start, end]) => sum + (end - start), 0);
    return Math.min(100, (100 * loaded) / asset.expected);
}

/** Returns the message for a failed download, or an empty string if the last download did not fail. */
export function downloadErrorMessage(asset) {
    if (asset?.activity !== 'failed') return '';
    return asset.error ? errorMessage(asset.error) : 'The download failed.';
}
