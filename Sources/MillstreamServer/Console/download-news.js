// What is said when a download ends: nobody watches it all the time.

import { problemOf } from './asset-state.js';
import { announce, complain } from './status.js';

export class DownloadNews {
    // The size of what was complete when a person asked for it again.
    #completeBytes = new Map();

    constructor(inventory) {
        inventory.addEventListener('activity', ({ detail: { asset, former } }) => this.#tell(asset, former));
    }

    /** Says that `asset`, complete already, is asked for again: another quality may add to it, or nothing. */
    noteAskedAgain({ id, bytes }) {
        this.#completeBytes.set(id, bytes);
    }

    #tell(asset, former) {
        const { id, title, activity, state, bytes } = asset;
        if (activity === 'downloading') return;
        const formerBytes = this.#completeBytes.get(id);
        this.#completeBytes.delete(id);
        if (activity === 'failed') {
            complain(`The download of “${title}” failed. ${problemOf(asset)}`);
        } else if (former?.activity === 'downloading' && state === 'complete') {
            announce(bytes === formerBytes
                ? `“${title}” is already kept. Nothing had to be downloaded.`
                : `“${title}” is kept and plays without its origin.`, { tone: 'good' });
        }
    }
}
