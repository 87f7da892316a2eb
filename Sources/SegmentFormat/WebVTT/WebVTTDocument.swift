/// A WebVTT file or segment (W3C WebVTT §6; RFC 8216bis §3.1.4).
///
/// It is read as browsers read it: what cannot be understood is left out, and only the signature has to be there. Carriage
/// returns, a byte-order mark, zero bytes and missing empty lines are taken as the standard says.
public struct WebVTTDocument: Sendable, Hashable {
    /// How times of this document relate to those of the media; `nil` where it does not say.
    public let timestampMap: WebVTTTimestampMap?
    /// The texts of its style sheets, as they are.
    public let styleSheets: [String]
    /// Its regions; of several with one name the last counts.
    public let regions: [WebVTTRegion]
    /// Its cues, in the order of the document.
    public let cues: [WebVTTCue]

    /// Further cues of a document are not read: a film has some two thousand.
    public static let mostCues = 100_000
    /// Further style sheets and regions of a document are not read.
    public static let mostBlocks = 1_000

    /// Reads a document in UTF-8; throws ``MediaFormatError/missing(_:)`` without its signature.
    public init(_ bytes: Span<UInt8>) throws(MediaFormatError) {
        var lines = WebVTTLines(bytes)
        guard lines.takeSignature(bytes) else { throw .missing("WEBVTT signature") }
        var reading = WebVTTBlockReading()
        // What follows the signature without an empty line is the header.
        reading.readHeader(&lines, bytes)
        while !lines.isAtEnd, reading.cues.count < Self.mostCues { reading.readBlock(&lines, bytes) }
        timestampMap = reading.timestampMap
        styleSheets = reading.styleSheets
        regions = reading.regions
        cues = reading.cues
    }

    /// The region a cue is shown in; `nil` where it names none that is there.
    public func region(of cue: WebVTTCue) -> WebVTTRegion? {
        guard let name = cue.settings.regionID else { return nil }
        return regions.last { $0.id == name }
    }
}
