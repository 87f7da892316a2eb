public import HLSPlaylist
public import MediaTiming
public import ResourceAddressing

extension Presentation {
    /// A variant of a presentation, with all of its locations.
    public struct Variant: Sendable, Hashable, Identifiable {
        /// The identity of a variant, which is preserved when the playlist is reloaded with other URLs.
        public struct ID: Sendable, Hashable, CustomStringConvertible {
            /// The attributes of the variant in one line, which are not intended for display.
            public let text: String

            /// The same as ``text``.
            public var description: String { text }
        }

        /// A location from which a variant can be loaded.
        public struct Location: Sendable, Hashable {
            /// The URL of the media playlist.
            public let address: ResourceAddress
            /// The identifier of the pathway; `.` if the playlist does not contain one (RFC 8216bis §7.1).
            public let pathwayID: String
            /// The identifiers of the rendition groups by type.
            public let groupIDs: [Rendition.MediaType: String]

            /// Returns the encoding of an option for this location, or `nil` if the rendition group does not contain
            /// the option.
            public func encoding(of option: MediaSelectionOption) -> MediaSelectionOption.Encoding? {
                groupIDs[option.type].flatMap { option.encoding(in: $0) }
            }
        }

        /// The identity of the variant.
        public let id: ID
        /// The peak segment bit rate including renditions, or `nil` if the required attribute is missing.
        public let peakBitRate: BitRate?
        /// The average segment bit rate including renditions.
        public let averageBitRate: BitRate?
        /// The declared codecs.
        public let codecs: CodecList
        /// The resolution of the video.
        public let resolution: Resolution?
        /// The maximum frame rate.
        public let frameRate: MediaTime?
        /// The video range; `nil` counts as standard dynamic range.
        public let videoRange: VideoRange?
        /// The required HDCP level of the output.
        public let hdcpLevel: HDCPLevel?
        /// The score, which can be compared only if ``Presentation/isScored``.
        public let score: Double?
        /// The stable identifier of the variant (`STABLE-VARIANT-ID`), if the playlist contains one (§4.4.6.2).
        public let stableID: String?
        /// The name for the user interface.
        public let name: String?
        /// A Boolean value that indicates whether its playlists contain only I-frames.
        public let isIFramesOnly: Bool
        /// The locations on the initial pathway, then the others, both in the order of the playlist; never empty.
        ///
        /// All locations except the first are used if the previous ones fail.
        public internal(set) var locations: [Location]

        /// The URL of the media playlist at the first location.
        public var address: ResourceAddress { location.address }
        /// The first location.
        public var location: Location { locations[0] }

        /// The average bit rate, or the peak bit rate if there is no average.
        public var typicalBitRate: BitRate? { averageBitRate ?? peakBitRate }

        /// A Boolean value that indicates whether the variant contains only audio, according to its codecs and
        /// resolution.
        public var isAudioOnly: Bool {
            resolution == nil && codecs.video.isEmpty && codecs.other.isEmpty && !codecs.audio.isEmpty
        }

        /// Returns the locations on a pathway.
        public func locations(on pathwayID: String) -> [Location] { locations.filter { $0.pathwayID == pathwayID } }

        /// Returns the variant with the locations on a pathway before the others; `nil` for no change.
        func preferring(_ pathwayID: String?) -> Variant {
            guard let pathwayID else { return self }
            var variant = self
            variant.locations = locations(on: pathwayID) + locations.filter { $0.pathwayID != pathwayID }
            return variant
        }

        /// Creates the variant of a media playlist without a multivariant playlist.
        init(standalone address: ResourceAddress) {
            id = ID(text: "media")
            peakBitRate = nil
            averageBitRate = nil
            codecs = CodecList([])
            resolution = nil
            frameRate = nil
            videoRange = nil
            hdcpLevel = nil
            score = nil
            stableID = nil
            name = nil
            isIFramesOnly = false
            locations = [Location(address: address, pathwayID: ".", groupIDs: [:])]
        }

        init(_ variant: HLSPlaylist.Variant, id: ID, location: Location) {
            self.id = id
            peakBitRate = variant.bandwidth
            averageBitRate = variant.averageBandwidth
            codecs = CodecList(variant.codecs)
            resolution = variant.resolution
            frameRate = variant.frameRate
            videoRange = variant.videoRange
            hdcpLevel = variant.hdcpLevel
            score = variant.score
            stableID = variant.stableID
            name = variant.name
            isIFramesOnly = variant.isIFramesOnly
            locations = [location]
        }
    }
}
