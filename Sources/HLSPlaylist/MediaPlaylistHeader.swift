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
            case .key: keys.append(position)
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
        case .skip: skippedSegmentCount = AttributeList(bytes, in: value).integer("SKIPPED-SEGMENTS") ?? 0
        default: break
        }
    }

    private static func integer(_ text: String) -> Int64? { UInt64(text).flatMap { Int64(exactly: $0) } }
}
