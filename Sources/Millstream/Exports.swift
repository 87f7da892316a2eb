// The modules whose types occur in the public API of this module, so that clients need not import them.
@_exported public import Adaptation
@_exported public import HLSPlaylist
@_exported public import MediaTiming
@_exported public import PlaybackReporting
@_exported public import ResourceAddressing
@_exported public import StreamingEngine
