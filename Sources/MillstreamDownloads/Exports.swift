// An application that imports MillstreamDownloads has the library of its assets, and the types of its addresses and times.

@_exported public import AssetStorage
@_exported public import MediaTiming
@_exported public import ResourceAddressing
