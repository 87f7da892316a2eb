// Messages at the end of downloads.

import { downloadErrorMessage } from './asset-state.js';
import { showError, showMessage } from './messages.js';

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
        const { id, title, activity, state, bytes } = asset;
        if (activity === 'downloading') return;
        const previousBytes = this.#previousBytes.get(id);
        this.#previousBytes.delete(id);
        if (activity === 'failed') {
            showError(`The download of “${title}” failed. ${downloadErrorMessage(asset)}`);
        } else if (previous?.activity === 'downloading' && state === 'complete') {
            showMessage(bytes === previousBytes
                ? `“${title}” is already downloaded.`
                : `“${title}” is downloaded and can be played offline.`, { type: 'success' });
        }
    }
}
