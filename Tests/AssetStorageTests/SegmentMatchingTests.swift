import HLSPlaylist
import MediaTiming
import Testing

@testable import AssetStorage

/// Tests how the files of a stored playlist are recognized in a playlist that was loaded later.
@Suite struct SegmentMatchingTests {
    /// Parses a playlist with segments of four seconds, or of the duration after the URI.
    private static func playlist(_ segments: [String]) throws -> MediaPlaylist {
        let lines = segments.flatMap { text -> [String] in
            let parts = text.split(separator: " ").map { String($0) }
            return ["#EXTINF:\(parts.count > 1 ? parts[1] : "4"),", parts[0]]
        }
        return try TemporaryLibrary.playlist(["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + lines)
    }

    @Test(
        arguments: [
            // The later playlist is another part of the presentation.
            (["a.ts", "b.ts", "c.ts"], ["b.ts", "c.ts", "d.ts"], [0: 1, 1: 2]),
            (["a.ts?s=1", "b.ts?s=1"], ["b.ts?s=2"], [0: 1]), (["a.ts", "b.ts"], ["c.ts"], [:]),
            (["a.ts?s=1", "b.ts?s=1"], ["a.ts?s=2", "b.ts?s=2"], [0: 0, 1: 1]),
            ([], ["a.ts"], [:]), (["a.ts"], [], [:]), ([], [], [:]),
            // Media in another order, or of another duration, is other media.
            (["a.ts", "b.ts", "c.ts"], ["c.ts", "a.ts"], [:]), (["a.ts", "b.ts"], ["b.ts 3"], [:]),
            (["a.ts", "b.ts"], ["a.ts", "b.ts 3"], [:]), (["a.ts", "b.ts"], ["b.ts", "a.ts"], [:]),
            // A name that is not unique does not tell the segment.
            (["a.ts", "b.ts"], ["a.ts", "a.ts", "b.ts"], [:]), (["a.ts", "a.ts", "b.ts"], ["a.ts", "b.ts"], [:]),
            (["a.ts?n=1", "a.ts?n=2", "a.ts?n=3"], ["a.ts?n=2", "a.ts?n=3"], [0: 1, 1: 2]),
            (["a.ts?n=1", "a.ts?n=2"], ["a.ts?n=1", "a.ts?n=2"], [0: 0, 1: 1]),
            (["a.ts?n=1", "a.ts?n=2"], ["a.ts?n=2", "a.ts?n=1"], [:]),
            (["a.ts?n=1", "b.ts?n=1"], ["a.ts?n=1", "a.ts?n=2", "b.ts?n=1"], [0: 0, 2: 1]),
            // A path without an extension can be that of any segment.
            (["x", "y", "z"], ["y", "z"], [0: 1, 1: 2]), (["x?s=1", "y?s=1", "z?s=1"], ["y?s=2", "z?s=2"], [:]),
            (["x?s=1", "y?s=1"], ["x?s=2", "y?s=2"], [0: 0, 1: 1]),
            (["x.ts?s=1", "y?s=1"], ["x.ts?s=2"], [:]),
            (["x.ts?s=1", "z.ts?s=1"], ["x.ts?s=2", "y?s=2", "w.ts?s=2"], [:]), (["a"], ["a?s=1"], [:]),
            (["a?s=1"], ["a?s=1"], [0: 0]), (["a.ts"], ["a.ts?s=1"], [0: 0]),
            // The fragment tells the parts of a WebVTT file, and nothing else.
            (["s.vtt#t=0,4", "s.vtt#t=4,8"], ["s.vtt#t=4,8"], [0: 1]), (["a.ts#1", "b.ts#1"], ["b.ts#2"], [0: 1]),
        ] as [([String], [String], [Int: Int])]
    )
    func segmentsAreRecognized(old: [String], new: [String], positions: [Int: Int]) throws {
        let (former, later) = (try Self.playlist(old), try Self.playlist(new))
        #expect(SegmentMatching.formerPositions(of: later, in: former) == positions)
    }

    // MARK: Keys and initialization sections

    private static func identity(_ kind: StoredResource.Kind, _ name: String) -> PackagePlan.Identity {
        PackagePlan.Identity(
            ResourceRecord(
                assetID: "id",
                renditionID: 1,
                position: -1,
                kind: kind,
                address: TemporaryLibrary.origin + name,
                path: "unused",
                start: "0",
                duration: "4"
            )
        )
    }

    private static func key(_ uri: String, method: String = "AES-128", format: String? = nil) -> String {
        let line = "#EXT-X-KEY:METHOD=\(method),URI=\"\(uri)\",IV=0x01"
        return format.map { "\(line),KEYFORMAT=\"\($0)\"" } ?? line
    }

    private static func map(_ uri: String) -> String { "#EXT-X-MAP:URI=\"\(uri)\"" }

    private static func shared(_ lines: [String], segments: Int = 1) throws -> MediaPlaylist {
        let media = (0..<segments).flatMap { ["#EXTINF:4,", "\($0).m4s"] }
        return try TemporaryLibrary.playlist(["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + lines + media)
    }

    /// A file of a new playlist, and the file of the old playlist that is the same; `nil` if there is none.
    struct SharedFileCase: Sendable {
        var old: [String]
        var new: [String]
        var kind = StoredResource.Kind.key
        var name: String
        var former: String?
    }

    private static let sharedFiles: [SharedFileCase] = [
        SharedFileCase(old: [key("k?s=1")], new: [key("k?s=2")], name: "k?s=2", former: "k?s=1"),
        SharedFileCase(old: [key("s1/k")], new: [key("s2/k")], name: "s2/k", former: "s1/k"),
        SharedFileCase(
            old: [map("s1/i.mp4")],
            new: [map("s2/i.mp4?s=2")],
            kind: .initialization,
            name: "s2/i.mp4?s=2",
            former: "s1/i.mp4"
        ),
        SharedFileCase(old: [key("s1/k")], new: [key("s2/other")], name: "s2/other"),
        // Keys of other sizes and of other systems are other keys.
        SharedFileCase(old: [key("k")], new: [key("k?s=2", method: "AES-256-GCM")], kind: .longKey, name: "k?s=2"),
        SharedFileCase(
            old: [key("k", method: "AES-256-GCM")],
            new: [key("k?s=2", method: "AES-256-GCM")],
            kind: .longKey,
            name: "k?s=2",
            former: "k"
        ),
        SharedFileCase(old: [key("k")], new: [key("k?s=2", format: "other")], name: "k?s=2"),
        SharedFileCase(old: [key("k", format: "other")], new: [key("k?s=2")], name: "k?s=2"),
        // Of two keys with the same last component, the path tells which one it is.
        SharedFileCase(old: [key("a/k"), map("i.mp4"), key("b/k")], new: [key("c/k")], name: "c/k"),
        SharedFileCase(
            old: [key("a/k"), map("i.mp4"), key("b/k")],
            new: [key("b/k?s=2")],
            name: "b/k?s=2",
            former: "b/k"
        ),
        SharedFileCase(
            old: [key("a/k"), map("i.mp4"), key("b/k")],
            new: [key("a/k?s=2")],
            name: "a/k?s=2",
            former: "a/k"
        ),
    ]

    /// A file is recognized by its path, otherwise by the last component of the path.
    @Test(arguments: sharedFiles) func keysAndInitializationSectionsAreRecognized(given: SharedFileCase) throws {
        let (before, after) = (try Self.shared(given.old), try Self.shared(given.new))
        let former = given.former.map { Self.identity(given.kind, $0) }
        let identities = PackagePlan.formerSharedFiles(of: after, in: before, [0: 0])
        #expect(identities[Self.identity(given.kind, given.name)] == former)
        #expect(identities.count == (former == nil ? 0 : 1))
        // Nothing is known of a segment that the old playlist does not have.
        #expect(PackagePlan.formerSharedFiles(of: after, in: before, [:]).isEmpty)
    }

    @Test func fileIsThatOfTheFirstSegmentThatNeedsIt() throws {
        let old = try TemporaryLibrary.media(
            Self.key("a/k"),
            "#EXTINF:4,",
            "0.m4s",
            Self.key("b/k"),
            "#EXTINF:4,",
            "1.m4s"
        )
        let new = try Self.shared([Self.key("c/k")], segments: 2)
        let key = Self.identity(.key, "c/k")
        #expect(PackagePlan.formerSharedFiles(of: new, in: old, [0: 0, 1: 1]) == [key: Self.identity(.key, "a/k")])
        #expect(PackagePlan.formerSharedFiles(of: new, in: old, [1: 1]) == [key: Self.identity(.key, "b/k")])
        #expect(PackagePlan.formerSharedFiles(of: new, in: old, [1: 0]) == [key: Self.identity(.key, "a/k")])
    }
}
