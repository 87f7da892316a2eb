import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing

/// The recognition of the segments of a stored playlist in a playlist that was loaded later.
///
/// The later playlist can have other URL signatures, and can be a shorter or longer part of the same presentation.
enum SegmentMatching {
    /// Returns, for each position in a new playlist whose segment is also in an old one, the position there.
    ///
    /// Segments are recognized by the path of the URL and the byte range, and also by the query if the paths are not
    /// unique. If the order or the duration of a segment differs, the media has changed, and no segment is recognized.
    ///
    /// - Complexity: O(*n*) in the bytes of the playlists.
    static func formerPositions(of new: MediaPlaylist, in old: MediaPlaylist) -> [Int: Int] {
        let all = (old: Array(old.segments), new: Array(new.segments))
        if all.old.count == all.new.count, hasSameMedia(all.old, all.new) {
            return Dictionary(uniqueKeysWithValues: all.new.indices.map { ($0, $0) })
        }
        guard
            let names = uniqueNames(all.old, all.new, withQuery: false)
                ?? uniqueNames(all.old, all.new, withQuery: true)
        else { return [:] }
        let former = Dictionary(uniqueKeysWithValues: names.old.enumerated().map { ($1, $0) })
        var positions: [Int: Int] = [:]
        var last = -1
        for (position, name) in names.new.enumerated() {
            guard let match = former[name] else { continue }
            guard match > last, all.old[match].duration == all.new[position].duration else { return [:] }
            positions[position] = match
            last = match
        }
        return positions
    }

    /// Returns a Boolean value that indicates whether two lists of segments name the same media, regardless of URL
    /// signatures.
    private static func hasSameMedia(_ old: [MediaSegment], _ new: [MediaSegment]) -> Bool {
        // If the paths alone do not distinguish the segments, the queries are compared too.
        let paths = Set(new.map { name(of: $0, withQuery: false) })
        let pathsSuffice = paths.count == new.count && (paths.count > 1 || new.allSatisfy(isFile))
        return zip(old, new).allSatisfy { first, second in
            first.duration == second.duration
                && name(of: first, withQuery: !pathsSuffice) == name(of: second, withQuery: !pathsSuffice)
        }
    }

    /// Returns the names of the segments of two playlists; `nil` if a playlist has a name twice.
    private static func uniqueNames(
        _ old: [MediaSegment],
        _ new: [MediaSegment],
        withQuery: Bool
    ) -> (old: [String], new: [String])? {
        // A path without an extension may be that of a program that answers with any segment.
        guard withQuery || old.allSatisfy(isFile) && new.allSatisfy(isFile) else { return nil }
        let names = (
            old: old.map { name(of: $0, withQuery: withQuery) }, new: new.map { name(of: $0, withQuery: withQuery) }
        )
        guard Set(names.old).count == old.count, Set(names.new).count == new.count else { return nil }
        return names
    }

    static func name(of segment: MediaSegment, withQuery: Bool) -> String {
        name(of: ResourceAddress(segment.uri), segment.byteRange, withQuery: withQuery)
    }

    /// Returns the name of a segment with a URL and a byte range.
    static func name(of address: ResourceAddress, _ byteRange: ByteRange?, withQuery: Bool = false) -> String {
        let query = withQuery ? address.query ?? "" : ""
        // Parts of one WebVTT file differ in the fragment only.
        let part = SubtitleClip(of: address) == nil ? "" : address.fragment ?? ""
        return [address.path, byteRange?.description ?? "", query, part].joined(separator: "\n")
    }

    private static func isFile(_ segment: MediaSegment) -> Bool { segment.address.lastPathComponent.contains(".") }
}
