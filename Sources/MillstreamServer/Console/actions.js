// What the buttons of cards and rows do.

import { deleteAsset, startDownload, stopDownload } from './api.js';
import { stateOf } from './asset-state.js';
import { confirmDeletion } from './confirm-deletion.js';
import { chosenQuality } from './download-quality.js';
import { sizeText } from './format.js';
import { sentenceOf } from './sentence.js';
import { announce, complain } from './status.js';

export class Actions {
    #inventory;
    #player;
    #news;

    constructor(inventory, player, news) {
        this.#inventory = inventory;
        this.#player = player;
        this.#news = news;
    }

    /** Does `action` for a stream of the catalogue, a kept asset, or a stream and its asset. */
    async perform(action, { stream, asset }) {
        const title = stream?.name ?? asset.title;
        switch (action) {
        case 'play':
            this.#player.playRemote({ title, source: stream.url, poster: stream.poster, stream: stream.id });
            break;
        case 'play-kept':
            this.#player.playKept({ title, asset, poster: (stream ?? this.#inventory.streamOf(asset))?.poster });
            break;
        case 'download':
        case 'resume':
            await this.download(stream?.url ?? asset.source, title);
            break;
        case 'cancel':
            await this.#attempt(`The download of “${title}” could not be stopped.`, () => stopDownload(asset.id),
                `The download of “${title}” is stopped. What is kept stays.`);
            break;
        case 'delete':
            await this.#delete(asset, title);
            break;
        }
    }

    async download(url, title) {
        const asset = this.#inventory.assetOf({ url });
        const isComplete = stateOf(asset) === 'kept';
        if (isComplete) this.#news.noteAskedAgain(asset);
        await this.#attempt(`“${title}” could not be downloaded.`,
            () => startDownload({ url, title, ...chosenQuality() }),
            isComplete ? `Looking for what of “${title}” is not kept yet…` : `The download of “${title}” has begun.`);
    }

    async #delete(asset, title) {
        const question = `“${title}” takes ${sizeText(asset.bytes)}. The stream itself stays where it is.`;
        if (!(await confirmDeletion(question))) return;
        this.#player.closeKept(asset.id);
        await this.#attempt(`“${title}” could not be deleted.`, () => deleteAsset(asset.id),
            `The kept copy of “${title}” is deleted.`);
    }

    async #attempt(failure, work, success) {
        try {
            await work();
            announce(success);
        } catch (error) {
            complain(`${failure} ${sentenceOf(error)}`);
            return;
        }
        // The events say it as well; reading again shows it even while they are cut off.
        await this.#inventory.read().catch(() => {});
    }
}
