import DASHManifest

/// The properties of a track that are the same in all periods, and by which its representations are found.
package struct TrackDescriptor: Sendable, Hashable, Codable {
    /// The kind of a media playlist that a translation writes.
    package enum Kind: String, Sendable, Hashable {
        case video, audio, subtitles, iFrames
    }

    /// The kind of the playlist.
    package let kind: Kind
    /// The file name of the playlist, which no other track has.
    package internal(set) var fileName = ""
    /// The identifier of the representation in the period that determines the tracks.
    package let representationID: String
    /// The language tag, or `nil` if it is missing or invalid.
    package let language: String?
    /// The role that distinguishes the track from others of its language, such as `main` or `commentary`.
    package let role: String?
    /// The characteristics as RFC 8216bis §4.4.6.1 names them.
    package let characteristics: [String]
    /// A Boolean value that indicates whether subtitles are for passages in other languages only.
    package let isForced: Bool
    /// The label for display.
    package let label: String?
    /// The codecs in the form of RFC 6381.
    package internal(set) var codecs: [String]
    /// The value of `SUPPLEMENTAL-CODECS`, or `nil` if none are declared.
    package let supplementalCodecs: String?
    /// The value of `CHANNELS`, or `nil` if it is not declared.
    package let channels: String?
    /// The declared bandwidth, in bits per second; at least 1.
    package internal(set) var bandwidth: Int64
    /// The width, in pixels.
    package let width: Int64?
    /// The height, in pixels.
    package let height: Int64?
    /// The value of `FRAME-RATE`, or `nil` if it is not declared.
    package let frameRate: String?
    /// The value of `VIDEO-RANGE`, or `nil` if it is not declared.
    package let videoRange: String?
    /// The identifiers of closed captions in the video, each with its language.
    package let captions: [String: String?]

    /// The part of the codec before the first dot, which names the kind of encoding.
    var codecFamily: String { codecs.first.map { String($0.prefix { $0 != "." }) } ?? "" }
    /// The key that is the same in all representations of one rendition.
    var renditionKey: RenditionKey {
        RenditionKey(language: language, role: role, characteristics: characteristics, isForced: isForced, label: label)
    }

    /// The properties that distinguish renditions of a group.
    struct RenditionKey: Hashable {
        let language: String?
        let role: String?
        let characteristics: [String]
        let isForced: Bool
        let label: String?
    }
}

/// A representation that a track can use in its period.
struct TrackCandidate {
    let descriptor: TrackDescriptor
    let set: AdaptationSet
    let representation: Representation
    /// The schemes of content protection; empty if the media is not encrypted.
    let protections: [Descriptor]
    /// The identifiers of the periods whose media the set continues without a discontinuity.
    let continuedPeriods: [String]
}
