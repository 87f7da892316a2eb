// The confirmation dialog for the deletion of an offline copy.

const dialog = document.getElementById('confirm');
const text = document.getElementById('confirm-text');

/** Shows the dialog. Returns whether the user confirmed; Escape and a click outside the dialog cancel it. */
export function confirmDeletion(message) {
    text.textContent = message;
    dialog.returnValue = '';
    dialog.showModal();
    return new Promise((resolve) => {
        dialog.addEventListener('close', () => resolve(dialog.returnValue === 'delete'), { once: true });
    });
}

dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close('');
});
