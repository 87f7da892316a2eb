import CostOperations
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ReportFormat
import ResourceAddressing

extension CostOperation {
    /// Returns a context with an address with a query, and with variables to import.
    private static func context(_ count: Int) -> PlaylistContext {
        PlaylistContext(
            address: ResourceAddress("https://h/v/list.m3u8?" + repeated(count) { "p\($0)=1&" }),
            importableVariables: Dictionary(uniqueKeysWithValues: (0..<count).map { ("v\($0)", "x") })
        )
    }

    private static func playlist(_ shape: PlaylistShape, _ count: Int) throws -> Playlist {
        let needsQuery = shape.name.hasPrefix("variables")
        return try Playlist.parse(shape.bytes(count), context: context(needsQuery ? count : 4))
    }

    static func mediaPlaylist(_ name: String, _ count: Int) throws -> MediaPlaylist {
        for shape in PlaylistShape.media where shape.name == name {
            guard case .media(let playlist) = try playlist(shape, count) else { break }
            return playlist
        }
        fatalError("there is no media playlist \(name)")
    }

    static func multivariantPlaylist(_ name: String, _ count: Int) throws -> MultivariantPlaylist {
        for shape in PlaylistShape.multivariant where shape.name == name {
            guard case .multivariant(let playlist) = try playlist(shape, count) else { break }
            return playlist
        }
        fatalError("there is no multivariant playlist \(name)")
    }

    private static func forEachShape(
        _ topic: String,
        _ run: @escaping (PlaylistShape, Int) throws -> () throws -> Void
    ) -> [CostOperation] {
        PlaylistShape.multivariant.map { shape in
            CostOperation("\(topic)/multivariant/\(shape.name)") { try run(shape, $0) }
        }
            + PlaylistShape.media.map { shape in
                CostOperation("\(topic)/media/\(shape.name)") { try run(shape, $0) }
            }
    }

    /// The operations that parse playlists and read every value.
    static var reading: [CostOperation] {
        forEachShape("read") { shape, count in
            let (bytes, context) = (shape.bytes(count), context(shape.name.hasPrefix("variables") ? count : 4))
            return { read(try Playlist.parse(bytes, context: context)) }
        } + [
            CostOperation("read/update") { count in
                let older = try mediaPlaylist("everything-on-demand", count)
                let newer = PlaylistShape("") { count in
                    PlaylistShape.header + "#EXT-X-MEDIA-SEQUENCE:1\n"
                        + repeated(count) { PlaylistShape.segment($0 + 1) } + PlaylistShape.end
                }.bytes(count)
                return { read(.media(try MediaPlaylist(parsing: newer, after: older))) }
            },
            CostOperation("read/delta-update") { count in
                let older = try mediaPlaylist("everything-on-demand", count)
                let update = try MediaPlaylist(
                    parsing: Array(
                        ("#EXTM3U\n" + PlaylistShape.header + "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(count - 1),"
                            + "RECENTLY-REMOVED-DATERANGES=\"\(repeated(count / 2) { "d\($0)\t" })\"\n"
                            + repeated(4) { PlaylistShape.segment(count + $0) }).utf8
                    )
                )
                return { read(.media(try older.applying(update))) }
            },
            CostOperation("read/renditions-of-the-closest-language") { count in
                let offered: [(language: String?, name: String?)] = (0..<count).map { number in
                    (language: "ko", name: "E\(number)")
                }
                return { precondition(RenditionMatching.positions(matching: "ko-KR", in: offered).count == count) }
            },
            CostOperation("read/rendition-groups") { count in
                let playlist = try multivariantPlaylist("variants-with-groups-of-their-own", count)
                return {
                    for variant in playlist.variants {
                        precondition(playlist.renditions(.audio, in: variant.groupID(.audio) ?? "").count == 1)
                    }
                }
            },
        ]
    }

    private static func read(_ playlist: Playlist) {
        precondition(!playlist.addresses.contains { $0.address.text.isEmpty && !$0.uri.isEmpty })
        precondition(playlist.minimumVersion > 0)
        if case .media(let media) = playlist {
            for segment in media.segments {
                precondition(segment.byteRange.map { $0.start >= 0 } ?? true && segment.parts.count >= 0)
            }
        }
    }

    /// The operations that validate playlists against both rule sets.
    static var rules: [CostOperation] {
        forEachShape("rules") { shape, count in
            let playlist = try playlist(shape, count)
            return { precondition(playlist.validated(against: [.rfc, .apple]).count >= 0) }
        }
    }

    /// The operations that write reports as JSON, canonical playlists and rewritten addresses.
    static var writing: [CostOperation] {
        // In some shapes one long value applies to all segments, and a report repeats it for each segment; the size of
        // the report is therefore limited.
        forEachShape("report") { shape, count in
            let playlist = try playlist(shape, count)
            let limit = 1_000 * count + 100_000
            return { _ = try? playlist.report.json(limit: limit) }
        }
            + forEachShape("canonical") { shape, count in
                let playlist = try playlist(shape, count)
                return {
                    // The canonical form of a playlist without URIs may be of the other kind, which throws.
                    guard let canonical = try? playlist.canonical() else { return }
                    precondition(canonical.kind == playlist.kind)
                }
            }
            + forEachShape("addresses") { shape, count in
                let playlist = try playlist(shape, count)
                return {
                    let moved = try playlist.rewritingAddresses { $0.uri.isEmpty ? nil : "https://other/" + $0.uri }
                    precondition(moved.kind == playlist.kind)
                }
            } + [
                CostOperation("relocation/media") { count in
                    let playlist = try mediaPlaylist("everything-on-demand", count)
                    let relocation = MediaPlaylist.Relocation(
                        segment: { "\($0)" },
                        map: { _ in "m" },
                        key: { _ in "k" }
                    )
                    return {
                        let moved = try playlist.relocated(relocation)
                        precondition(moved.segments.count == count)
                    }
                },
                CostOperation("relocation/multivariant") { count in
                    let playlist = try multivariantPlaylist("variants-with-groups-of-their-own", count)
                    return {
                        let moved = try playlist.relocated(
                            variant: { $0.isMultiple(of: 2) ? "v\($0)" : nil },
                            rendition: { $0.isMultiple(of: 3) ? "r\($0)" : nil }
                        )
                        precondition(moved.variants.count == (count + 1) / 2)
                    }
                },
            ]
    }
}
