/// A WebVTT file or segment (W3C WebVTT §6; RFC 8216bis §3.1.4).
///
/// Parsing follows the rules for browsers: only the signature is required, and invalid content is ignored. Carriage
/// returns, a byte order mark, zero bytes and missing empty lines are handled as the standard specifies.
package struct WebVTTDocument: Sendable, Hashable {
    /// The mapping from cue times to media timestamps; `nil` if the document has none.
    package let timestampMap: WebVTTTimestampMap?
    /// The style sheets, as in the document.
    package let styleSheets: [String]
    /// The regions; of several regions with the same identifier, the last one applies.
    package let regions: [WebVTTRegion]
    /// The cues, in document order.
    package let cues: [WebVTTCue]

    /// The maximum number of cues that are read; a feature film has about two thousand.
    package static let maximumCueCount = 100_000
    /// The maximum number of style sheets and the maximum number of regions that are read.
    package static let maximumBlockCount = 1_000

    /// Creates a document from UTF-8 bytes; throws ``MediaFormatError/missing(_:)`` if the signature is missing.
    package init(_ bytes: Span<UInt8>) throws(MediaFormatError) {
        var lines = WebVTTLineIterator(bytes)
        guard lines.skipSignature(bytes) else { throw .missing("WEBVTT signature") }
        var reading = WebVTTBlockParser()
        // The lines after the signature, up to an empty line, are the header.
        reading.readHeader(&lines, bytes)
        while !lines.isAtEnd, reading.cues.count < Self.maximumCueCount { reading.readBlock(&lines, bytes) }
        timestampMap = reading.timestampMap
        styleSheets = reading.styleSheets
        regions = reading.regions
        cues = reading.cues
    }

    /// Returns the region in which a cue is shown, or `nil` if the cue has none or the document does not define it.
    package func region(of cue: WebVTTCue) -> WebVTTRegion? {
        guard let name = cue.settings.regionID else { return nil }
        return regions.last { $0.id == name }
    }
}
