public import HLSPlaylist
public import MediaTiming
public import ResourceAddressing

extension Presentation {
    /// One quality of a presentation, wherever it can be had from.
    public struct Variant: Sendable, Hashable, Identifiable {
        /// What tells it from others, also after the playlist was loaded again with other addresses.
        public struct ID: Sendable, Hashable, CustomStringConvertible {
            /// What the playlist says of it, in one line; not for people.
            public let text: String

            /// The value as text, for people.
            public var description: String { text }
        }

        /// Where it can be had from.
        public struct Location: Sendable, Hashable {
            /// The media playlist.
            public let address: ResourceAddress
            /// The pathway; `.` where the playlist does not say (RFC 8216bis §7.1).
            public let pathwayID: String
            /// The group of renditions of each type that goes with it.
            public let groupIDs: [Rendition.MediaType: String]

            /// The encoding of an option that goes with it; `nil` where its group does not have the option.
            public func encoding(of option: MediaSelectionOption) -> MediaSelectionOption.Encoding? {
                groupIDs[option.type].flatMap { option.encoding(in: $0) }
            }
        }

        /// What tells it from others.
        public let id: ID
        /// The highest bit rate of all that is played together; `nil` where the required attribute is missing.
        public let peakBitRate: BitRate?
        /// The average bit rate of all that is played together.
        public let averageBitRate: BitRate?
        /// The formats that are named.
        public let codecs: CodecList
        /// The size of the picture.
        public let resolution: Resolution?
        /// Frames a second, at most.
        public let frameRate: MediaTime?
        /// The transfer characteristics of the picture; `nil` counts as standard dynamic range.
        public let videoRange: VideoRange?
        /// How well the output has to be protected.
        public let hdcpLevel: HDCPLevel?
        /// How much better it is than others; compare only where ``Presentation/isScored``.
        public let score: Double?
        /// What names it from one load of the playlist to the next, where the playlist says (§4.4.6.2).
        public let stableID: String?
        /// What people call it.
        public let name: String?
        /// Whether its playlists hold I-frames only.
        public let isIFrames: Bool
        /// Where it can be had from, in the order of the playlist; never empty.
        ///
        /// All but the first are there for when that one fails.
        public internal(set) var locations: [Location]

        /// The media playlist of the first location.
        public var address: ResourceAddress { location.address }
        /// The first location.
        public var location: Location { locations[0] }

        /// The bit rate to reckon with: the average, or the peak where there is none.
        public var typicalBitRate: BitRate? { averageBitRate ?? peakBitRate }

        /// Whether it holds sound only, by its formats and its size.
        public var isAudioOnly: Bool {
            resolution == nil && codecs.video.isEmpty && codecs.other.isEmpty && !codecs.audio.isEmpty
        }

        /// Where it can be had from on a pathway.
        public func locations(on pathwayID: String) -> [Location] { locations.filter { $0.pathwayID == pathwayID } }

        /// A media playlist that stands alone.
        init(alone address: ResourceAddress) {
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
            isIFrames = false
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
            isIFrames = variant.isIFrames
            locations = [location]
        }
    }
}
