import MediaTiming

/// What a media playlist says about itself, and which tags hold for stretches of its segments.
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
    var variables: PlaylistVariables

    /// The positions in ``PlaylistIndex/tags`` of tags that hold until the next of their kind, ascending.
    var keys: [Int] = []
    /// For each of ``keys``, the key tags that hold behind it: the last of each key format since the last `NONE`.
    var keysInForce: [[Int]] = []
    var maps: [Int] = []
    var bitRates: [Int] = []
    var dateTimes: [Int] = []
    var discontinuities: [Int] = []
    var gaps: [Int] = []
    var parts: [Int] = []

    init(_ bytes: [UInt8], _ index: PlaylistIndex, context: PlaylistContext) {
        var definitions: [AttributeList] = []
        variables = PlaylistVariables([], context: context)
        for (position, record) in index.tags.enumerated() {
            switch record.tag {
            case .key:
                keys.append(position)
                keysInForce.append(Self.keysInForce(behind: position, keysInForce.last ?? [], index, bytes))
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
                var scanner = LineScanner(Int(record.lineStart)..<bytes.count)
                guard let line = scanner.next(in: bytes.span), let tagLine = TagLine(line, in: bytes) else { continue }
                if record.tag == .define {
                    definitions.append(AttributeList(bytes, in: tagLine.value))
                } else {
                    read(record.tag, tagLine.value, in: bytes)
                }
            default: break
            }
        }
        variables = PlaylistVariables(definitions, context: context)
    }

    /// A key replaces the one of its format, and `NONE` all of them (§4.4.4.4).
    private static func keysInForce(
        behind tag: Int,
        _ before: [Int],
        _ index: PlaylistIndex,
        _ bytes: [UInt8]
    ) -> [Int] {
        let attributes = attributes(of: tag, index, bytes)
        guard attributes["METHOD"] != "NONE" else { return [] }
        func format(_ attributes: AttributeList) -> String { attributes["KEYFORMAT"] ?? "identity" }
        let own = format(attributes)
        return before.filter { format(Self.attributes(of: $0, index, bytes)) != own }.suffix(mostKeyFormats) + [tag]
    }

    /// So many key formats can hold at once; a playlist with more is not meant to be played.
    private static let mostKeyFormats = 15

    private static func attributes(of tag: Int, _ index: PlaylistIndex, _ bytes: [UInt8]) -> AttributeList {
        var scanner = LineScanner(Int(index.tags[tag].lineStart)..<bytes.count)
        let line = scanner.next(in: bytes.span).flatMap { TagLine($0, in: bytes) }
        return AttributeList(bytes, in: line?.value)
    }

    /// Of a tag that stands twice, the first that can be read counts.
    private mutating func read(_ tag: TagName?, _ value: Range<Int>?, in bytes: [UInt8]) {
        let text = String(value.map { bytes.text($0) }.map { Substring($0).trimmingBlanks() } ?? "")
        switch tag {
        case .version: version = version ?? Int(text)
        case .targetDuration:
            // Some writers put decimals here; a player takes them.
            targetDuration = targetDuration ?? MediaTime(decimal: text).flatMap { $0 >= .zero ? $0 : nil }
        case .mediaSequence: mediaSequence = mediaSequence ?? Self.integer(text)
        case .discontinuitySequence: discontinuitySequence = discontinuitySequence ?? Self.integer(text)
        case .playlistType: playlistType = playlistType ?? PlaylistType(rawValue: text)
        case .start: start = start ?? PlaylistStart(AttributeList(bytes, in: value))
        case .partInformation:
            partTargetDuration = partTargetDuration ?? AttributeList(bytes, in: value).decimal("PART-TARGET")
        case .serverControl: serverControl = serverControl ?? ServerControl(AttributeList(bytes, in: value))
        case .skip:
            skippedSegmentCount = min(
                AttributeList(bytes, in: value).integer("SKIPPED-SEGMENTS") ?? 0,
                Self.largestSequence
            )
        default: break
        }
    }

    /// Far more than a stream that began with time itself would need, and little enough that sums of numbers fit.
    static let largestSequence: Int64 = 1 << 60

    private static func integer(_ text: String) -> Int64? {
        UInt64(text).flatMap { Int64(exactly: $0) }.flatMap { $0 <= largestSequence ? $0 : nil }
    }
}
