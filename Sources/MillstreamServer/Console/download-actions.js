// The actions that a stream card and a download row have for the download or the recording of an asset.

import { assetState, downloadKind, isManagedElsewhere } from './asset-state.js';

/** Returns the available actions in the form of `ActionBar.update`; `title` names the stream in accessible names. */
export function downloadActions(asset, title) {
    const state = assetState(asset);
    const isRecording = downloadKind(asset) === 'recording';
    const subject = `the ${downloadKind(asset)} of ${title}`;
    const actions = {};
    if (state === 'partial' || state === 'paused') actions.resume = { label: 'Resume', name: `Resume ${subject}` };
    if (state === 'failed') actions.resume = { label: 'Try again', name: `Try again to ${isRecording ? 'record' : 'download'} ${title}` };
    // The process that manages a download resumes it on request, but has to pause and end it.
    if (isManagedElsewhere(asset)) return actions;
    if (state === 'downloading' || state === 'recording') actions.pause = { label: 'Pause', name: `Pause ${subject}` };
    if (['downloading', 'recording', 'waiting', 'paused'].includes(state)) {
        actions.cancel = isRecording ? { label: 'End', name: `End ${subject}` } : { label: 'Cancel', name: `Cancel ${subject}` };
    }
    return actions;
}
