package import MediaTiming
import XMLReading

/// A document of TTML or of the IMSC text profile, as a file or as an `stpp` sample (TTML2, IMSC 1.1, ISO/IEC 14496-30
/// §5).
///
/// Supported are all time expressions with `par` and `seq` containers; referenced, inline, inherited and initial
/// styles; and regions. Images, animation, audio and font selection are ignored. Text without a defined region is
/// placed at the bottom center, as most writers expect, instead of at the top as specified.
package struct TimedTextDocument: Sendable, Hashable {
    /// The cues, in document order, with the times of the document.
    ///
    /// A paragraph with parts that appear or disappear has a cue for each state.
    package let cues: [SubtitleCue]
    /// The language of the document; `nil` if it is not specified.
    package let language: String?

    /// The maximum number of cues of a document.
    package static let maximumCueCount = 100_000
    /// The maximum memory use of the cues, in bytes per byte of the document, in addition to 16 KiB.
    ///
    /// A paragraph whose words appear one after the other results in a cue for each word.
    static let maximumExpansion = 64
    /// The maximum memory use of the cues of a document, in bytes.
    static let maximumCueMemoryUse = 64 << 20
    /// The maximum size of a document, in bytes; larger documents are rejected.
    package static let maximumSize = 16 << 20
    /// The end time of cues that have no end: 400,000 s, about 4.6 days.
    package static let latestEnd = MediaTime(seconds: 400_000)

    /// Creates a document from XML; data after the root element, such as images in samples, are ignored.
    ///
    /// Throws ``MediaFormatError``, with the line for XML errors, if the XML cannot be parsed or has another root
    /// element, and if the document results in too many cues or repeats its text too often.
    package init(_ bytes: Span<UInt8>) throws(MediaFormatError) {
        var tree = TimedTextTree()
        do throws(XMLReadingError) {
            try XMLDocumentParser.parse(
                bytes,
                limits: .init(maximumSize: Self.maximumSize, maximumDepth: 64, maximumElementCount: 500_000),
                into: &tree
            )
        } catch {
            throw error.code == .tooLarge ? .tooLarge("timed text (\(error))") : .malformed("timed text (\(error))")
        }
        guard tree.hasRoot else { throw .missing("tt element") }
        language = tree.language
        let budget = min(
            Self.maximumCueMemoryUse,
            bytes.count.multipliedSaturated(by: Self.maximumExpansion).addingSaturated(16_384)
        )
        var resolution = TimedTextConverter(tree, budget: budget)
        cues = try resolution.cues()
    }

    /// Returns the cues of a sample, limited to its presentation time range.
    ///
    /// - Parameter timeRange: The time range of the sample on the track's timeline, which is also that of the document.
    /// - Returns: The cues shown during the time range, in document order.
    package func cues(within timeRange: MediaTimeRange) -> [SubtitleCue] {
        cues.compactMap { cue in
            guard let range = cue.timeRange.intersection(timeRange) else { return nil }
            var cue = cue
            cue.timeRange = range
            return cue
        }
    }
}
