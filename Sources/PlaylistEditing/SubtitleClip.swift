import HLSPlaylist
public import MediaTiming
public import ResourceAddressing

/// The part of a WebVTT file to which a segment of an edited playlist refers: the cues in a time range.
///
/// It is the fragment of the URL, `#t=START,END` in seconds of cue time (W3C Media Fragments URI 1.0 §4.2.1). Who delivers the file has
/// to remove the other cues, because players show all cues of a segment.
public struct SubtitleClip: Sendable, Hashable {
    /// The range of cue times.
    public let range: MediaTimeRange

    /// Creates a clip.
    init(_ range: MediaTimeRange) { self.range = range }

    /// Creates the clip that a URL refers to, or `nil` if it does not refer to a part of a WebVTT file.
    public init?(of address: ResourceAddress) {
        guard Self.isWebVTT(address), let fragment = address.fragment, fragment.hasPrefix("t=") else { return nil }
        let parts = fragment.dropFirst(2).split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = MediaTime(decimal: parts[0]), start >= .zero else { return nil }
        guard !parts[1].isEmpty else {
            range = MediaTimeRange(start: start, end: MediaTimeRange.unbounded.end)
            return
        }
        guard let end = MediaTime(decimal: parts[1]), start < end else { return nil }
        range = MediaTimeRange(start: start, end: end)
    }

    /// The fragment, without the number sign.
    var fragment: String {
        "t=\(range.start),\(range.end < MediaTimeRange.unbounded.end ? range.end.description : "")"
    }

    /// Returns a Boolean value that indicates whether the extension of a path is that of WebVTT.
    static func isWebVTT(_ address: ResourceAddress) -> Bool {
        let path = address.path.lowercased()
        return path.hasSuffix(".vtt") || path.hasSuffix(".webvtt")
    }
}

/// The division of the WebVTT file of a playlist.
///
/// Only a playlist with a single segment, whose cue times are those of the presentation, and the parts of one are divided.
struct SubtitleDivision {
    private let playlist: MediaPlaylist

    /// The lowest version with durations that are no whole seconds.
    private static let decimalDurationVersion = 3

    init(of playlist: MediaPlaylist) { self.playlist = playlist }

    private var segments: MediaSegments { playlist.segments }

    /// Returns the playlist with its file divided at times, so that later edits can cut there.
    ///
    /// - Parameters:
    ///   - times: The times in the playlist.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit or cannot be parsed.
    func divided(
        at times: [MediaTime],
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        var cuts: [Int: Set<MediaTime>] = [:]
        if segments.count == 1 { cuts[0] = [] }
        for time in times {
            guard let position = segments.position(at: time), segments.timeRange(at: position).start < time else {
                continue
            }
            cuts[position, default: []].insert(time)
        }
        var patch = PlaylistPatch()
        for (position, times) in cuts {
            divide(position, at: times.sorted(), isWhole: segments.count == 1, &patch)
        }
        if !patch.isEmpty { raiseVersion(&patch) }
        return try Playlist.media(playlist).patched(patch, edit: "split", limits: limits).asMedia(after: "split")
    }

    /// Returns the playlist with its file divided into parts of a duration, which a live playlist publishes one after the other.
    ///
    /// - Parameters:
    ///   - seconds: The duration, which is the target duration of the presentation.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist; the playlist itself if no part of a file is longer.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit or cannot be parsed.
    func divided(every seconds: Int64, limits: PlaylistLimits) throws(PlaylistEditError) -> MediaPlaylist {
        let interval = MediaTime(seconds: seconds)
        var patch = PlaylistPatch()
        var longest = seconds
        var count: Int64 = 0
        // What is joined has a file for each period.
        let files = Set(playlist.periodRanges.filter { $0.count == 1 }.map(\.lowerBound))
        for position in segments.indices {
            let range = segments.timeRange(at: position)
            let isWhole = files.contains(position)
            guard range.duration > interval, clip(at: position, isWhole: isWhole) != nil else {
                longest = max(longest, range.duration.roundedSeconds)
                continue
            }
            let number = range.duration.quotient(dividingBy: interval)
            count +|= number
            guard count <= limits.entryCount else { throw .tooLarge(.entryCount(limits.entryCount)) }
            let times = (1...max(1, number)).map { range.start + interval * $0 }.filter { $0 < range.end }
            divide(position, at: times, isWhole: isWhole, &patch)
        }
        guard !patch.isEmpty else { return playlist }
        let target = playlist.lines(ofSegment: 0).first { $0.tag == .targetDuration }
        if let value = target?.value { patch.replace(value, with: "\(longest)") }
        raiseVersion(&patch)
        return try Playlist.media(playlist).patched(patch, edit: "live", limits: limits).asMedia(after: "live")
    }

    /// Raises the version to that of playlists with durations that are no whole seconds (RFC 8216bis §8).
    private func raiseVersion(_ patch: inout PlaylistPatch) {
        guard playlist.version < Self.decimalDurationVersion else { return }
        let tag = "#EXT-X-VERSION:\(Self.decimalDurationVersion)"
        let lines = playlist.lines(ofSegment: 0)
        if let line = lines.first(where: { $0.tag == .version }) {
            patch.replace(line.text, with: tag)
        } else if let end = lines.first(where: { $0.tag == .header })?.range.upperBound {
            patch.replace(end..<end, with: tag + playlist.lineEnd)
        }
    }

    /// Returns the part of a WebVTT file that a segment is.
    ///
    /// - Parameters:
    ///   - position: The position of the segment.
    ///   - isWhole: Whether a file without a range of times is divided: it is the only one of its presentation.
    /// - Returns: The part; `nil` if the segment cannot be divided.
    private func clip(at position: Int, isWhole: Bool) -> SubtitleClip? {
        let segment = segments[position]
        let uri = ResourceAddress(segment.uri)
        guard SubtitleClip.isWebVTT(uri), segment.byteRange == nil, segment.keys.isEmpty, segment.map == nil,
            !segment.isGap
        else { return nil }
        let whole = MediaTimeRange(start: .zero, end: MediaTimeRange.unbounded.end)
        return SubtitleClip(of: uri) ?? (isWhole && uri.fragment == nil ? SubtitleClip(whole) : nil)
    }

    /// Divides a segment at times inside it.
    private func divide(_ position: Int, at times: [MediaTime], isWhole: Bool, _ patch: inout PlaylistPatch) {
        guard let clip = clip(at: position, isWhole: isWhole) else { return }
        let segment = segments[position]
        let lines = playlist.lines(ofSegment: position)
        guard let duration = lines.first(where: { $0.tag == .segmentInformation }),
            let address = lines.first(where: \.isURI)
        else { return }
        let base = segment.uri.prefix { $0 != "#" }
        let range = segments.timeRange(at: position)
        let bounds = [range.start] + times + [range.end]
        let pieces = zip(bounds, bounds.dropFirst()).map { start, end in
            let first = clip.range.start + (start - range.start)
            // Cues may be longer than the last part.
            let last = end == range.end ? clip.range.end : clip.range.start + (end - range.start)
            let part = SubtitleClip(MediaTimeRange(start: first, end: last))
            return (duration: end - start, uri: "\(base)#\(part.fragment)")
        }
        let title = duration.value.map { String(decoding: playlist.bytes[$0], as: UTF8.self).drop { $0 != "," } } ?? ","
        patch.replace(duration.text, with: "#EXTINF:\(pieces[0].duration)\(title)")
        let others = pieces.dropFirst().map { "\n#EXTINF:\($0.duration),\n\($0.uri)" }
        patch.replace(address.text, with: pieces[0].uri + others.joined())
    }
}
