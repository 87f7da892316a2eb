// The modules and types that occur in the public API of this module, so that clients need not import them. Of the engine,
// only values are exported.
@_exported public import Adaptation
@_exported public import HLSPlaylist
@_exported public import MediaTiming
@_exported public import PlaybackReporting
@_exported public import ResourceAddressing

@_exported public import struct MediaTransport.AssetResourceContentInformation
@_exported public import struct MediaTransport.AssetResourceDataRequest
@_exported public import class MediaTransport.AssetResourceLoader
@_exported public import protocol MediaTransport.AssetResourceLoaderDelegate
@_exported public import class MediaTransport.AssetResourceLoadingRequest
@_exported public import struct MediaTransport.AssetResourceResponse
@_exported public import struct StreamingEngine.AudioMix
@_exported public import struct StreamingEngine.AudioSettings
@_exported public import struct StreamingEngine.MediaSelection
@_exported public import struct StreamingEngine.MediaSelectionGroup
@_exported public import struct StreamingEngine.MediaSelectionOption
@_exported public import struct StreamingEngine.MediaSelectionRules
@_exported public import struct StreamingEngine.SeekResult
@_exported public import struct StreamingEngine.SeekTolerance
@_exported public import struct StreamingEngine.StreamingError
@_exported public import struct StreamingEngine.Timebase
@_exported public import struct StreamingEngine.TimedDateRange
@_exported public import struct StreamingEngine.VariantPreferences
@_exported public import enum StreamingEngine.VariantSwitchMode

#if Playback
@_exported public import enum MediaDecoding.MediaFileType
#endif
