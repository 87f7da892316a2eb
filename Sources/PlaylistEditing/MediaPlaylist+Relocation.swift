public import HLSPlaylist
import MediaTiming

extension MediaPlaylist {
    /// The new locations of the resources of a playlist that are copied to separate files.
    public struct Relocation {
        /// A closure that returns the new URI of the segment at a position.
        public var segment: (Int) -> String
        /// A closure that returns the new URI of a media initialization section.
        public var map: (MediaInitialization) -> String
        /// A closure that returns the new URI of a key.
        public var key: (EncryptionKey) -> String

        /// Creates a relocation.
        public init(
            segment: @escaping (Int) -> String,
            map: @escaping (MediaInitialization) -> String,
            key: @escaping (EncryptionKey) -> String
        ) {
            self.segment = segment
            self.map = map
            self.key = key
        }
    }

    /// Returns the playlist for a copy of its media in which each resource is a separate file.
    ///
    /// Byte ranges are removed, because each range becomes a file. Partial segments, preload hints, rendition reports
    /// and server control are removed, because they are of use only for live streams, and interstitials, because their
    /// assets are not copied. Everything else is unchanged.
    ///
    /// - Throws: ``PlaylistEditError`` if the result cannot be parsed.
    public func relocated(_ relocation: Relocation) throws(PlaylistEditError) -> MediaPlaylist {
        try Playlist.media(self).parsed(relocatedBytes(relocation), edit: "relocation").asMedia(after: "relocation")
    }

    /// The number of segments whose changes are applied at once.
    private static let relocatedGroup = 1_024

    /// Returns the bytes of the playlist for a copy of its media in which each resource is a separate file.
    ///
    /// The changes are applied to groups of segments, so that those of a million segments are never in memory together.
    package func relocatedBytes(_ relocation: Relocation) -> [UInt8] {
        // The URIs with variables replaced, by their offsets in the bytes.
        let written = variables.isEmpty ? [] : Playlist.media(self).addresses
        let addresses = Dictionary(
            written.map { ($0.range.lowerBound, $0.uri) },
            uniquingKeysWith: { first, _ in first }
        )
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var patch = PlaylistPatch()
        var start = 0
        for position in 0...segments.count {
            let lines = lines(ofSegment: position)
            if position % Self.relocatedGroup == 0, let end = lines.first?.range.lowerBound {
                result += patch.applied(to: bytes, in: start..<end)
                patch = PlaylistPatch()
                start = end
            }
            let segment = position < segments.count ? segments[position] : nil
            for line in lines { relocate(line, of: segment, at: position, addresses, relocation, &patch) }
        }
        result += patch.applied(to: bytes, in: start..<bytes.count)
        return result
    }

    private func relocate(
        _ line: EditableLine,
        of segment: MediaSegment?,
        at position: Int,
        _ addresses: [Int: String],
        _ relocation: Relocation,
        _ patch: inout PlaylistPatch
    ) {
        switch line.tag {
        case .byteRange, .part, .preloadHint, .renditionReport, .serverControl, .partInformation:
            patch.remove(line.range)
        case .dateRange:
            let attributes = AttributeList(bytes, in: line.value)
            let isInterstitial = ["X-ASSET-URI", "X-ASSET-LIST"].contains { attributes[$0] != nil }
            if isInterstitial { patch.remove(line.range) }
        case .map:
            guard let map = segment?.map, let value = line.value else { return }
            patch.replace(value, with: "URI=\"\(relocation.map(map))\"")
        case .key:
            relocateKey(line, of: segment, addresses, relocation, &patch)
        default:
            if line.isURI { patch.replace(line.text, with: relocation.segment(position)) }
        }
    }

    private func relocateKey(
        _ line: EditableLine,
        of segment: MediaSegment?,
        _ addresses: [Int: String],
        _ relocation: Relocation,
        _ patch: inout PlaylistPatch
    ) {
        let attributes = AttributeList(bytes, in: line.value)
        // A key before a map may apply only to the map, if another key applies to the segment.
        guard let uri = attributes.attribute("URI"), let segment else { return }
        let address = addresses[uri.range.lowerBound] ?? uri.value
        guard let key = (segment.keys + (segment.map?.keys ?? [])).first(where: { $0.uri == address }) else { return }
        patch.replace(uri.range, with: relocation.key(key))
    }
}

extension MultivariantPlaylist {
    /// Returns the playlist with some of its variants and renditions, each at a new URI.
    ///
    /// Content steering, session data with a URI, and playlists of still images are removed, because they
    /// refer to resources that are not copied. Variants no longer refer to groups whose renditions are all removed.
    ///
    /// - Parameters:
    ///   - variant: A closure that returns the new URI of the variant at a position, or `nil` to remove it.
    ///   - rendition: A closure that returns the new URI of the rendition at a position, or `nil` to remove it.
    ///     Renditions without a URI are preserved.
    ///   - iFrameVariant: A closure that returns the new URI of the I-frame variant at a position, or `nil` to remove it.
    ///   - sessionKey: A closure that returns the new URI of a session key, or `nil` to remove the key.
    /// - Returns: The reduced playlist.
    /// - Throws: ``PlaylistEditError`` if the result cannot be parsed.
    public func relocated(
        variant: (Int) -> String?,
        rendition: (Int) -> String?,
        iFrameVariant: (Int) -> String? = { _ in nil },
        sessionKey: (EncryptionKey) -> String? = { _ in nil }
    ) throws(PlaylistEditError) -> MultivariantPlaylist {
        var patch = PlaylistPatch()
        var keptGroups: Set<GroupName> = []
        for (position, entry) in renditions.enumerated() {
            let name = GroupName(type: entry.attributes["TYPE"] ?? "", id: entry.groupID)
            guard let uri = entry.attributes.attribute("URI") else {
                keptGroups.insert(name)
                continue
            }
            if let address = rendition(position) {
                patch.replace(uri.range, with: address)
                keptGroups.insert(name)
            } else {
                patch.remove(entry.tagLine)
            }
        }
        for (position, entry) in variants.enumerated() {
            if let address = variant(position) {
                patch.replace(entry.uriRange, with: address)
                removeEmptyGroups(of: entry, remaining: keptGroups, patch: &patch)
            } else {
                patch.remove(entry.tagLine)
                if let uriLine = entry.uriLine { patch.remove(uriLine) }
            }
        }
        var movedLines: Set<Int> = []
        for (position, entry) in iFrameVariants.enumerated() {
            guard let address = iFrameVariant(position) else { continue }
            movedLines.insert(entry.tagLine.lowerBound)
            patch.replace(entry.uriRange, with: address)
        }
        for (key, line, uri) in sessionKeyLines {
            guard let uri, let address = sessionKey(key) else { continue }
            movedLines.insert(line.lowerBound)
            patch.replace(uri, with: address)
        }
        for entry in Playlist.multivariant(self).tagEntries where Self.imageTags.contains(entry.name) {
            patch.remove(entry.line)
        }
        for line in otherURILines where !movedLines.contains(line.lowerBound) { patch.remove(line) }
        return try Playlist.multivariant(self).patched(patch, edit: "relocation").asMultivariant(after: "relocation")
    }

    /// Tags of playlists with still images, which the standard does not define.
    package static let imageTags: Set<String> = ["EXT-X-IMAGE-STREAM-INF"]

    private struct GroupName: Hashable {
        let type: String
        let id: String
    }

    private func removeEmptyGroups(of variant: Variant, remaining kept: Set<GroupName>, patch: inout PlaylistPatch) {
        let lost = Rendition.MediaType.allCases.filter { type in
            variant.groupID(type).map { !kept.contains(GroupName(type: type.rawValue, id: $0)) } ?? false
        }
        guard !lost.isEmpty, let colon = bytes[variant.tagLine].firstIndex(of: UInt8(ascii: ":")) else { return }
        let line = bytes[colon..<variant.tagLine.upperBound]
        let end = line.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? line.endIndex
        let names = Set(lost.map(\.rawValue))
        let rest = variant.attributes.attributes.filter { !names.contains($0.name) }.map { attribute in
            attribute.name + "=" + (attribute.isQuoted ? "\"\(attribute.value)\"" : attribute.value)
        }
        patch.replace((colon + 1)..<end, with: rest.joined(separator: ","))
    }
}
