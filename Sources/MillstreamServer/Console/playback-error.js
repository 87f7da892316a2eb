// The panel that explains a playback failure and offers solutions.

import { setHidden, setText, setTextOrHide, setTextWithURLsOrHide } from './element.js';
import { showMessage } from './messages.js';

const find = (id) => document.getElementById(id);

export function showPlaybackErrors(player, edits, store) {
    const panel = find('playback-error');
    const part = (name) => panel.querySelector(`[data-part=${name}]`);

    find('try-again').addEventListener('click', () => retry(() => {
        edits.retryInspection();
        player.reload();
    }));
    find('use-proxy').addEventListener('click', () => retry(() => edits.enableProxy()));
    find('play-offline-copy').addEventListener('click', () => {
        const asset = offlineCopy();
        const { title, poster } = player.selection;
        if (asset) player.playOffline({ title, asset, poster, position: player.position });
    });
    player.addEventListener('error', update);
    // An offline copy can become available, or be deleted, while the panel is shown.
    store.addEventListener('change', updateButtons);

    function update() {
        const { error } = player;
        edits.showRefusal(error?.isRefused ? error.message : undefined);
        setHidden(panel, !error);
        if (!error) return;
        setText(part('message'), error.message);
        setTextWithURLsOrHide(part('hint'), error.hint);
        setTextOrHide(part('url'), error.url);
        updateButtons();
        const offer = offlineCopy() ? ' An offline copy is available.' : '';
        showMessage(`“${player.selection.title}” cannot be played. ${error.message}${offer}`,
            { type: 'error', isVisible: false });
    }

    function updateButtons() {
        const { error } = player;
        if (!error) return;
        const asset = offlineCopy();
        setHidden(find('play-offline-copy'), !asset);
        find('try-again').classList.toggle('primary', !asset);
        setHidden(find('use-proxy'), !error.offersProxy);
    }

    /** Returns the offline copy of the stream that cannot be played from its origin, if it helps. */
    function offlineCopy() {
        const { selection, error } = player;
        if (selection?.origin !== 'remote' || !error?.offersOffline) return undefined;
        const asset = store.assetForStream({ url: selection.source });
        return asset?.playableOffline ? asset : undefined;
    }

    /** Performs an operation that hides the panel, and moves the focus from the panel to the video. */
    function retry(operation) {
        operation();
        find('video').focus({ preventScroll: true });
    }
}
