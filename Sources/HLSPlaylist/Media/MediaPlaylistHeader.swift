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
        var definitions: [AttributeList] = []
        var formats: [(tag: UInt32, format: String)] = []
        variables = PlaylistVariables([], context: context)
        for (position, record) in index.tags.enumerated() {
            // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
            let position = UInt32(position)
            switch record.tag {
            case .key: recordKey(position, index: index, bytes: bytes, formats: &formats)
            case .map: maps.append(position)
            case .bitRate: bitRates.append(position)
            case .programDateTime: dateTimes.append(position)
            case .discontinuity: discontinuities.append(position)
            case .gap: gaps.append(position)
            case .part: parts.append(position)
            case .endList: hasEndMarker = true
            case .iFramesOnly: isIFramesOnly = true
            case .independentSegments: hasIndependentSegments = true
            case .version, .targetDuration, .mediaSequence, .discontinuitySequence, .playlistType, .start,
                .partInformation, .serverControl, .skip, .define:
                guard let tagLine = bytes.tagLine(at: Int(record.lineStart)) else { continue }
                if record.tag == .define {
                    definitions.append(AttributeList(bytes, in: tagLine.value))
                } else {
                    read(record.tag, tagLine.value, in: bytes)
                }
            default: break
            }
        }
        let entryCount = index.tags.count + index.segments.count
        variables = PlaylistVariables(
            definitions,
            context: context,
            maximumGrowth: PlaylistVariables.maximumGrowth(byteCount: bytes.count, entryCount: entryCount)
        )
    }

    /// Returns the key tags in force after the given one of ``keys``, in order.
    func keysInForce(after position: Int) -> [UInt32] {
        otherKeys[position].map { $0 + [keys[position]] } ?? []
    }

    /// Records a key tag.
    ///
    /// A key replaces the key in force that has the same format, and `NONE` ends all keys (§4.4.4.4).
    ///
    /// - Parameters:
    ///   - tag: The position of the key tag in the index.
    ///   - index: The index.
    ///   - bytes: The playlist.
    ///   - formats: The tags and formats of the keys in force, in order.
    private mutating func recordKey(
        _ tag: UInt32,
        index: PlaylistIndex,
        bytes: [UInt8],
        formats: inout [(tag: UInt32, format: String)]
    ) {
        let own = AttributeList(bytes, in: bytes.tagLine(at: Int(index.tags[Int(tag)].lineStart))?.value)
        if own.hasValue("NONE", for: "METHOD") {
            formats = []
            otherKeys.append(nil)
        } else {
            let format = own["KEYFORMAT"].flatMap { $0.isEmpty ? nil : $0 } ?? "identity"
            formats = formats.filter { $0.format != format }.suffix(Self.maximumOtherKeyFormatCount)
            otherKeys.append(formats.map(\.tag))
            formats.append((tag, format))
        }
        keys.append(tag)
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

    /// Reads the value of a tag; if a tag appears several times, the first readable value counts.
    private mutating func read(_ tag: TagName?, _ value: Range<Int>?, in bytes: [UInt8]) {
        let text = String(value.map { bytes.text($0) }.map { Substring($0).trimmingBlanks() } ?? "")
        switch tag {
        case .version: version = version ?? Self.integer(text).map { Int($0) }
        case .targetDuration:
            // Some servers write a decimal number, which players accept.
            targetDuration = targetDuration ?? MediaTime(decimal: text).flatMap { $0 >= .zero ? $0 : nil }
        case .mediaSequence: mediaSequence = mediaSequence ?? Self.integer(text)
        case .discontinuitySequence: discontinuitySequence = discontinuitySequence ?? Self.integer(text)
        case .playlistType: playlistType = playlistType ?? PlaylistType(rawValue: text)
        case .start: start = start ?? PlaylistStart(AttributeList(bytes, in: value))
        case .partInformation:
            partTargetDuration = partTargetDuration ?? AttributeList(bytes, in: value).decimal("PART-TARGET")
        case .serverControl: serverControl = serverControl ?? ServerControl(AttributeList(bytes, in: value))
        case .skip:
            let attributes = AttributeList(bytes, in: value)
            guard skippedSegmentCount == 0, let count = attributes.integer("SKIPPED-SEGMENTS") else { return }
            skippedSegmentCount = min(count, Self.maximumSequence)
            recentlyRemovedDateRanges = attributes["RECENTLY-REMOVED-DATERANGES"].map { list in
                list.split(separator: "\t").map(String.init)
            }
        default: break
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
