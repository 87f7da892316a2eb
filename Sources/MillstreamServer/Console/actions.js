// The actions of the buttons on stream cards and download rows.

import { artworkURL, cancelDownload, deleteAsset, pauseDownload, resumeDownload, startDownload } from './api.js';
import { assetState, downloadKind, isResumable } from './asset-state.js';
import { confirmDeletion } from './confirm-deletion.js';
import { selectedQuality } from './download-quality.js';
import { downloadSubject } from './download-messages.js';
import { errorMessage } from './error-message.js';
import { formatSize } from './format.js';
import { dismissErrors, showError, showMessage } from './messages.js';

export class Actions {
    #store;
    #player;
    #downloadMessages;

    constructor(store, player, downloadMessages) {
        this.#store = store;
        this.#player = player;
        this.#downloadMessages = downloadMessages;
    }

    /** Performs an action on a stream of the catalog, a downloaded asset, or both. */
    async perform(action, { stream, asset }) {
        const title = stream?.name ?? asset.title;
        const kind = downloadKind(asset);
        switch (action) {
        case 'play':
            this.#player.playRemote({
                title, source: stream.url, edits: stream.edits, poster: stream.poster, stream: stream.id,
                isFile: stream.kind === 'file',
            });
            break;
        case 'play-offline':
            this.#player.playOffline({
                title, asset, poster: artworkURL(asset) ?? (stream ?? this.#store.streamForAsset(asset))?.poster,
            });
            break;
        case 'pause':
            await this.#attempt(asset.source, `The ${kind} of “${title}” could not be paused.`, () => pauseDownload(asset.id),
                `The ${kind} of “${title}” is paused.`);
            break;
        case 'resume':
            if (!isResumable(asset)) {
                await this.download(stream?.url ?? asset.source, title);
                break;
            }
            await this.#attempt(asset.source, `The ${kind} of “${title}” could not be resumed.`, () => resumeDownload(asset.id),
                `The ${kind} of “${title}” continues.`);
            break;
        case 'download':
            await this.download(stream?.url ?? asset.source, title);
            break;
        case 'cancel':
            await this.#attempt(asset.source, `The ${kind} of “${title}” could not be ended.`, () => cancelDownload(asset.id),
                kind === 'recording'
                    ? `The recording of “${title}” has ended. The recorded part is preserved.`
                    : `The download of “${title}” was canceled. The downloaded part is preserved.`);
            break;
        case 'delete':
            await this.#delete(asset, title);
            break;
        }
    }

    async download(url, title) {
        const asset = this.#store.assetForStream({ url });
        const isComplete = assetState(asset) === 'downloaded';
        if (isComplete) this.#downloadMessages.recordRepeatedDownload(asset);
        await this.#attempt(url, `“${title}” could not be downloaded.`,
            () => startDownload({ url, title, ...selectedQuality() }),
            isComplete ? `Checking “${title}” for missing files…` : `The download of “${title}” has started.`);
    }

    async #delete(asset, title) {
        const message = `“${title}” uses ${formatSize(this.#store.size(asset))}. The stream at its origin is not affected.`;
        if (!(await confirmDeletion(message))) return;
        this.#player.closeOffline(asset.id);
        await this.#attempt(asset.source, `“${title}” could not be deleted.`, () => deleteAsset(asset.id),
            `The offline copy of “${title}” was deleted.`);
    }

    /** Performs an operation on the download of the stream at `url`, which replaces or removes the error of the previous one. */
    async #attempt(url, failureMessage, operation, successMessage) {
        // Before the operation, because its download can fail before the response arrives.
        dismissErrors(downloadSubject(url));
        try {
            await operation();
            showMessage(successMessage);
        } catch (error) {
            showError(`${failureMessage} ${errorMessage(error)}`, downloadSubject(url));
            return;
        }
        // Server-sent events report the change as well; loading shows it even while they are disconnected.
        await this.#store.load().catch(() => {});
    }
}
