package import HLSPlaylist
package import MediaTiming
package import ResourceAddressing

extension Presentation {
    /// A variant of a presentation, with all of its locations.
    package struct Variant: Sendable, Hashable, Identifiable {
        /// The identity of a variant, which is preserved when the playlist is reloaded with other URLs.
        package struct ID: Sendable, Hashable, CustomStringConvertible {
            /// The attributes of the variant in one line, which are not intended for display.
            package let text: String

            /// The same as ``text``.
            package var description: String { text }
        }

        /// A location from which a variant can be loaded.
        package struct Location: Sendable, Hashable {
            /// The URL of the media playlist.
            package let address: ResourceAddress
            /// The identifier of the pathway; `.` if the playlist does not contain one (RFC 8216bis §7.1).
            package let pathwayID: String
            /// The identifiers of the rendition groups by type.
            package let groupIDs: [Rendition.MediaType: String]

            /// Returns the encoding of an option for this location, or `nil` if the rendition group does not contain
            /// the option.
            package func encoding(of option: MediaSelectionOption) -> MediaSelectionOption.Encoding? {
                groupIDs[option.type].flatMap { option.encoding(in: $0) }
            }
        }

        /// The identity of the variant.
        package let id: ID
        /// The peak segment bit rate including renditions, or `nil` if the required attribute is missing.
        package let peakBitRate: BitRate?
        /// The average segment bit rate including renditions.
        package let averageBitRate: BitRate?
        /// The declared codecs.
        package let codecs: CodecList
        /// The resolution of the video.
        package let resolution: Resolution?
        /// The maximum frame rate.
        package let frameRate: MediaTime?
        /// The video range; `nil` counts as standard dynamic range.
        package let videoRange: VideoRange?
        /// The required HDCP level of the output.
        package let hdcpLevel: HDCPLevel?
        /// The score, which can be compared only if ``Presentation/isScored``.
        package let score: Double?
        /// The stable identifier of the variant (`STABLE-VARIANT-ID`), if the playlist contains one (§4.4.6.2).
        package let stableID: String?
        /// The name for the user interface.
        package let name: String?
        /// A Boolean value that indicates whether its playlists contain only I-frames.
        package let isIFramesOnly: Bool
        /// The locations on the initial pathway, then the others, both in the order of the playlist; never empty.
        ///
        /// All locations except the first are used if the previous ones fail.
        package internal(set) var locations: [Location]

        /// The URL of the media playlist at the first location.
        package var address: ResourceAddress { location.address }
        /// The first location.
        package var location: Location { locations[0] }

        /// The average bit rate, or the peak bit rate if there is no average.
        package var typicalBitRate: BitRate? { averageBitRate ?? peakBitRate }

        /// A Boolean value that indicates whether the variant contains only audio, according to its codecs and
        /// resolution.
        package var isAudioOnly: Bool {
            resolution == nil && codecs.video.isEmpty && codecs.other.isEmpty && !codecs.audio.isEmpty
        }

        /// Returns the locations on a pathway.
        package func locations(on pathwayID: String) -> [Location] { locations.filter { $0.pathwayID == pathwayID } }

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
