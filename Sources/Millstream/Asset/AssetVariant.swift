public import HLSPlaylist
public import MediaTiming
public import ResourceAddressing
import StreamingEngine

/// A variant of an asset: an encoding with a bit rate and a resolution of its own.
public struct AssetVariant: Sendable, Hashable, Identifiable {
    /// The identifier of the variant, as in events and for ``PlayerItem/pinVariant(_:switching:)``.
    public let id: String
    /// The URL of the media playlist.
    public let address: ResourceAddress
    /// The peak bit rate, including renditions; `nil` if the playlist does not declare it.
    public let peakBitRate: BitRate?
    /// The average bit rate, including renditions; `nil` if the playlist does not declare it.
    public let averageBitRate: BitRate?
    /// The codecs in the form of RFC 6381, in the order of the playlist; empty if the playlist does not declare them.
    public let codecs: [String]
    /// The resolution of the video; `nil` if the playlist does not declare it.
    public let resolution: Resolution?
    /// The maximum frame rate, in frames per second; `nil` if the playlist does not declare it.
    public let frameRate: Double?
    /// The video range; `nil` if the playlist does not declare it, which means standard dynamic range.
    public let videoRange: VideoRange?
    /// The name for the user interface; `nil` if the playlist does not have it.
    public let name: String?
    /// A Boolean value that indicates whether the playlist declares a variant without video.
    public let isAudioOnly: Bool

    init(_ variant: Presentation.Variant) {
        id = variant.id.text
        address = variant.address
        peakBitRate = variant.peakBitRate
        averageBitRate = variant.averageBitRate
        codecs = variant.codecs.all
        resolution = variant.resolution
        frameRate = variant.frameRate?.seconds
        videoRange = variant.videoRange
        name = variant.name
        isAudioOnly = variant.isAudioOnly
    }
}
