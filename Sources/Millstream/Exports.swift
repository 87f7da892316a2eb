// What the names of this module are made of: whoever imports the face can say a time, an address or a selection.
@_exported public import HLSPlaylist
@_exported public import MediaTiming
@_exported public import PlaybackReporting
@_exported public import ResourceAddressing
@_exported public import StreamingEngine
