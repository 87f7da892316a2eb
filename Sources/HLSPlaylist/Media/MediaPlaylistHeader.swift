import MediaTiming

/// The playlist-wide values of a media playlist, and the positions of tags that apply to several segments.
struct MediaPlaylistHeader: Sendable {
    var version: Int?
    var targetDuration: MediaTime?
    var mediaSequence: Int64?
    var discontinuitySequence: Int64?
    var hasEndMarker = false
    var playlistType: PlaylistType?
    var isIFramesOnly = false
    var hasIndependentSegments = false
    var start: PlaylistStart?
    var partTargetDuration: MediaTime?
    var serverControl: ServerControl?
    var skippedSegmentCount: Int64 = 0
    var recentlyRemovedDateRanges: [String]?
    var variables: PlaylistVariables

    /// The positions in ``PlaylistIndex/tags`` of the key tags, each of which applies until the next; ascending.
    var keys: [UInt32] = []
    /// For each of ``keys``, the key tags of other formats that are in force with it; `nil` for `NONE`, which ends all
    /// keys.
    var otherKeys: [[UInt32]?] = []
    var maps: [UInt32] = []
    var bitRates: [UInt32] = []
    var dateTimes: [UInt32] = []
    var discontinuities: [UInt32] = []
    var gaps: [UInt32] = []
    var parts: [UInt32] = []

    init(_ bytes: [UInt8], _ index: PlaylistIndex, context: PlaylistContext) {
        variables = PlaylistVariables([], context: context)
        var state = ReadingState()
        for (position, record) in index.tags.enumerated() {
            guard let tag = record.tag, let read = Self.readers[Int(tag.rawValue)] else { continue }
            // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
            read(&self, WrittenTag(position: UInt32(position), lineStart: Int(record.lineStart), bytes: bytes), &state)
        }
        let entryCount = index.tags.count + index.segments.count
        variables = PlaylistVariables(
            state.definitions,
            context: context,
            maximumGrowth: PlaylistVariables.maximumGrowth(byteCount: bytes.count, entryCount: entryCount)
        )
    }

    /// A tag in the bytes of a playlist, whose value is located when it is needed.
    private struct WrittenTag {
        /// The position in ``PlaylistIndex/tags``.
        let position: UInt32
        let lineStart: Int
        let bytes: [UInt8]

        private var value: Range<Int>? { bytes.tagLine(at: lineStart)?.value }
        var text: String { String(value.map { bytes.text($0) }.map { Substring($0).trimmingBlanks() } ?? "") }
        var attributes: AttributeList { AttributeList(bytes, in: value) }
    }

    /// The values that are needed only while the tags are read.
    private struct ReadingState {
        var definitions: [AttributeList] = []
        /// The tags and formats of the keys in force, in order.
        var formats: [(tag: UInt32, format: String)] = []
    }

    private typealias Reader = @Sendable (inout MediaPlaylistHeader, WrittenTag, inout ReadingState) -> Void

    /// The readers by ``TagName/rawValue``; `nil` for tags that have no value in the header.
    private static let readers: [Reader?] = TagName.allCases.map { readersByTag[$0] }

    /// The readers of tags; if a tag appears several times, the first readable value counts.
    private static let readersByTag: [TagName: Reader] = [
        .key: { header, tag, state in header.recordKey(tag, &state) },
        .map: { header, tag, _ in header.maps.append(tag.position) },
        .bitRate: { header, tag, _ in header.bitRates.append(tag.position) },
        .programDateTime: { header, tag, _ in header.dateTimes.append(tag.position) },
        .discontinuity: { header, tag, _ in header.discontinuities.append(tag.position) },
        .gap: { header, tag, _ in header.gaps.append(tag.position) },
        .part: { header, tag, _ in header.parts.append(tag.position) },
        .endList: { header, _, _ in header.hasEndMarker = true },
        .iFramesOnly: { header, _, _ in header.isIFramesOnly = true },
        .independentSegments: { header, _, _ in header.hasIndependentSegments = true },
        .define: { _, tag, state in state.definitions.append(tag.attributes) },
        .version: { header, tag, _ in header.version = header.version ?? integer(tag.text).map { Int($0) } },
        .targetDuration: { header, tag, _ in
            // Some servers write a decimal number, which players accept.
            let written = MediaTime(decimal: tag.text).flatMap { $0 >= .zero ? $0 : nil }
            header.targetDuration = header.targetDuration ?? written
        },
        .mediaSequence: { header, tag, _ in header.mediaSequence = header.mediaSequence ?? integer(tag.text) },
        .discontinuitySequence: { header, tag, _ in
            header.discontinuitySequence = header.discontinuitySequence ?? integer(tag.text)
        },
        .playlistType: { header, tag, _ in
            header.playlistType = header.playlistType ?? PlaylistType(rawValue: tag.text)
        },
        .start: { header, tag, _ in header.start = header.start ?? PlaylistStart(tag.attributes) },
        .partInformation: { header, tag, _ in
            header.partTargetDuration = header.partTargetDuration ?? tag.attributes.decimal("PART-TARGET")
        },
        .serverControl: { header, tag, _ in
            header.serverControl = header.serverControl ?? ServerControl(tag.attributes)
        },
        .skip: { header, tag, _ in header.readSkip(tag.attributes) },
    ]

    /// Returns the key tags in force after the given one of ``keys``, in order.
    func keysInForce(after position: Int) -> [UInt32] {
        otherKeys[position].map { $0 + [keys[position]] } ?? []
    }

    /// Records a key tag.
    ///
    /// A key replaces the key in force that has the same format, and `NONE` ends all keys (§4.4.4.4).
    private mutating func recordKey(_ tag: WrittenTag, _ state: inout ReadingState) {
        let attributes = tag.attributes
        if attributes.hasValue("NONE", for: "METHOD") {
            state.formats = []
            otherKeys.append(nil)
        } else {
            let format = attributes["KEYFORMAT"].flatMap { $0.isEmpty ? nil : $0 } ?? "identity"
            state.formats = state.formats.filter { $0.format != format }.suffix(Self.maximumOtherKeyFormatCount)
            otherKeys.append(state.formats.map(\.tag))
            state.formats.append((tag.position, format))
        }
        keys.append(tag.position)
    }

    /// The maximum number of other key formats in force with a key; a playlist with more is not meant to be played.
    private static let maximumOtherKeyFormatCount = 15

    /// Returns the media sequence number that is declared before the first segment.
    static func mediaSequence(in bytes: [UInt8]) -> Int64? {
        var scanner = LineScanner(0..<bytes.count)
        while let line = scanner.next(in: bytes.span) {
            guard let tag = TagLine(line, in: bytes) else {
                if line.trimmed(in: bytes.span).isEmpty || bytes[line.start] == UInt8(ascii: "#") || line.start == 0 {
                    continue
                }
                return nil
            }
            if tag.tag(in: bytes) == .mediaSequence, let value = tag.value { return integer(bytes.text(value)) }
        }
        return nil
    }

    private mutating func readSkip(_ attributes: AttributeList) {
        guard skippedSegmentCount == 0, let count = attributes.integer("SKIPPED-SEGMENTS") else { return }
        skippedSegmentCount = min(count, Self.maximumSequence)
        recentlyRemovedDateRanges = attributes["RECENTLY-REMOVED-DATERANGES"].map { list in
            list.split(separator: "\t").map(String.init)
        }
    }

    /// The maximum sequence number: no real stream reaches it, and sums of such numbers fit in 64 bits.
    static let maximumSequence: Int64 = 1 << 60

    /// Returns a sequence number, or `nil` if the text is not a number or exceeds ``maximumSequence``.
    static func integer(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        return bytes.integer(0..<bytes.count).flatMap { $0 <= maximumSequence ? $0 : nil }
    }
}
