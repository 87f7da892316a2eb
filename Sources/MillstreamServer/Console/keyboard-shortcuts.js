// Keyboard shortcuts to play, pause and seek.

const seekSeconds = 5;

export function handleKeyboardShortcuts(player, section) {
    // Handled in the capture phase and stopped there: the controls of Chromium listen on the video element, ignore
    // `defaultPrevented`, and would seek or toggle playback a second time.
    document.addEventListener('keydown', (event) => {
        const action = shortcutAction(event, player, section);
        if (!action) return;
        event.preventDefault();
        event.stopPropagation();
        action();
    }, { capture: true });
}

function shortcutAction({ target, key, repeat, ctrlKey, metaKey, altKey }, player, section) {
    // A button can change its action while a key is held down, such as from Download to Cancel.
    if (repeat && (key === 'Enter' || key === ' ') && target.closest('button')) return () => {};
    if (!player.selection || !player.canPlay || ctrlKey || metaKey || altKey) return undefined;
    if (target.closest('input, select, textarea, dialog')) return undefined;
    if (key === 'k' || key === 'K' || (key === ' ' && !target.closest('button, a'))) {
        return repeat ? () => {} : () => player.togglePlay();
    }
    if (section.contains(target)) {
        if (key === 'ArrowLeft') return () => player.seekBy(-seekSeconds);
        if (key === 'ArrowRight') return () => player.seekBy(seekSeconds);
    }
    return undefined;
}
