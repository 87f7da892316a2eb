public import MediaTiming
import XMLReading

/// A document of TTML or of the text profile of IMSC, as a file or as a sample `stpp` (TTML2, IMSC 1.1, ISO/IEC 14496-30 §5).
///
/// Taken are times of all kinds with containers `par` and `seq`, styles by reference, in place, inherited and initial, and
/// regions. Left out are images, animation, sound, and how fonts are chosen. Text that names no region of the document
/// stands below in the middle, as its writers mostly mean, not above as the standard has it.
public struct TimedTextDocument: Sendable, Hashable {
    /// What is shown when, in the order of the document, at the document's times.
    ///
    /// A paragraph with parts that come and go has a cue for each state.
    public let cues: [SubtitleCue]
    /// The language of the whole; `nil` where it is not said.
    public let language: String?

    /// The maximum number of cues of a document.
    public static let mostCues = 100_000
    /// The maximum memory that the cues of a document may take for each byte of it, beside 16 KiB: a paragraph whose
    /// words appear one after the other is a cue for each of them.
    static let mostExpansion = 64
    /// The maximum memory that the cues of a document may take, in bytes.
    static let mostCueBytes = 64 << 20
    /// Longer documents are not read, in bytes.
    public static let mostBytes = 16 << 20
    /// What never ends, ends here.
    public static let latestEnd = MediaTime(seconds: 400_000)

    /// Reads a document; what stands behind its root, as images in samples do, is left alone.
    ///
    /// Throws ``MediaFormatError`` with the line where the XML cannot be read, where the root is another, and where the
    /// document has too many cues or repeats its text too often.
    public init(_ bytes: Span<UInt8>) throws(MediaFormatError) {
        var tree = TimedTextTree()
        do throws(XMLReadingError) {
            try XMLDocumentReading.read(
                bytes,
                limits: .init(bytes: Self.mostBytes, depth: 64, elements: 500_000),
                into: &tree
            )
        } catch {
            throw error.code == .tooLarge ? .tooLarge("timed text (\(error))") : .malformed("timed text (\(error))")
        }
        guard tree.hasRoot else { throw .missing("tt element") }
        language = tree.language
        let budget = min(
            Self.mostCueBytes,
            bytes.count.multipliedSaturated(by: Self.mostExpansion).addingSaturated(16_384)
        )
        var resolution = TimedTextResolution(tree, budget: budget)
        cues = try resolution.cues()
    }

    /// The cues of a sample: cut to the time it is presented, which bounds what its document says.
    ///
    /// - Parameter timeRange: The sample's time on the track's timeline, which is that of the document too.
    /// - Returns: The cues that are shown then, in the order of the document.
    public func cues(within timeRange: MediaTimeRange) -> [SubtitleCue] {
        cues.compactMap { cue in
            guard let range = cue.timeRange.intersection(timeRange) else { return nil }
            var cue = cue
            cue.timeRange = range
            return cue
        }
    }
}
