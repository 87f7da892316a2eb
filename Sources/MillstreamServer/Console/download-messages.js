// Messages at the end of downloads.

import { downloadErrorMessage, downloadKind } from './asset-state.js';
import { dismissErrors, showError, showMessage } from './messages.js';

/** Returns the subject of the errors of a download, by the URL of its stream. */
export function downloadSubject(url) {
    return `download ${url}`;
}

export class DownloadMessages {
    // The sizes of complete assets that are downloaded again, by asset.
    #previousBytes = new Map();

    constructor(store) {
        store.addEventListener('activity', ({ detail: { asset, previous } }) => this.#showMessage(asset, previous));
    }

    /** Records the size of a complete asset that is downloaded again, possibly in other qualities. */
    recordRepeatedDownload({ id, bytes }) {
        this.#previousBytes.set(id, bytes);
    }

    #showMessage(asset, previous) {
        const { id, title, source, activity, state, bytes } = asset;
        if (activity !== 'failed') dismissErrors(downloadSubject(source));
        if (['downloading', 'recording'].includes(activity)) return;
        const previousBytes = this.#previousBytes.get(id);
        this.#previousBytes.delete(id);
        if (activity === 'failed') {
            showError(`The ${downloadKind(asset)} of “${title}” failed. ${downloadErrorMessage(asset)}`, downloadSubject(source));
        } else if (previous?.activity === 'recording' && activity === 'idle' && state === 'complete') {
            showMessage(`“${title}” is recorded and can be played offline.`, { type: 'success' });
        } else if (previous?.activity === 'downloading' && state === 'complete') {
            showMessage(bytes === previousBytes
                ? `“${title}” is already downloaded.`
                : `“${title}” is downloaded and can be played offline.`, { type: 'success' });
        }
    }
}
