import Foundation
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests the edits that an application defines.
@Suite struct CustomEditTests {
    private struct Unexpected: Error, CustomStringConvertible {
        var description: String { "no such tag" }
    }

    private static let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"

    private func media(_ text: String = text) throws -> MediaPlaylist { try MediaPlaylist(parsing: Array(text.utf8)) }

    /// Registers an edit that adds a comment with its value, under a name that no other test uses.
    private func registered(
        _ name: String,
        isValid: @escaping @Sendable (String) -> Bool = { _ in true },
        _ change: @escaping CustomEdit.MediaChange = { playlist, value in
            try MediaPlaylist(parsing: playlist.bytes + Array("# \(value)\n".utf8), context: playlist.context)
        }
    ) throws {
        let edit = CustomEdit(
            name,
            title: "Comment",
            summary: "Add a comment.",
            parameter: "TEXT",
            form: "a text without spaces",
            isValid: isValid,
            media: change
        )
        try PlaylistEdit.register(edit)
    }

    @Test func registeredEditIsFoundByItsName() throws {
        #expect(throws: PlaylistEditError.unknownEdit("add-comment")) {
            try PlaylistEdit(name: "add-comment", value: "a")
        }
        try registered("add-comment", isValid: { !$0.contains(" ") })
        let edit = try PlaylistEdit(name: "add-comment", value: "a")
        #expect(edit.definition.parameter?.kind == .text && edit.definition.target == .media && !edit.isFilter)
        let edited = try EditPlan([edit, .duration(MediaTime(seconds: 4))]).applied(to: try media())
        #expect(String(decoding: edited.bytes, as: UTF8.self) == Self.text + "# a\n")
        let stored = try JSONEncoder().encode(EditPlan([edit]))
        #expect(try JSONDecoder().decode(EditPlan.self, from: stored) == EditPlan([edit]))
        #expect(
            throws: PlaylistEditError.invalidValue(edit: "add-comment", value: "a b", expected: "a text without spaces")
        ) { try PlaylistEdit(name: "add-comment", value: "a b") }
    }

    @Test func editAppliesToAllPlaylistsOfAPresentation() async throws {
        struct Loader: PlaylistLoader {
            func loadPlaylist(
                at source: String,
                variables: [String: String],
                budget: EditBudget
            ) async throws -> Playlist {
                let context = PlaylistContext(address: ResourceAddress(source))
                return try Playlist.parse(Array(CustomEditTests.text.utf8), context: context)
            }
        }
        let edit = CustomEdit(
            "mark-all",
            title: "Mark",
            summary: "Mark all playlists.",
            multivariant: { playlist, _ in
                try MultivariantPlaylist(parsing: playlist.bytes + Array("# top\n".utf8), context: playlist.context)
            },
            media: { playlist, _ in
                try MediaPlaylist(parsing: playlist.bytes + Array("# media\n".utf8), context: playlist.context)
            }
        )
        try PlaylistEdit.register(edit)
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n"
        let playlist = try Playlist.parse(
            Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress("https://h/main.m3u8"))
        )
        let editor = try PresentationEditor(
            EditPlan([try PlaylistEdit(name: "mark-all", value: "true")]),
            loader: Loader()
        )
        guard case .multivariant(let edited) = try await editor.prepare(playlist).apply() else { throw Unexpected() }
        let files = try await editor.files(of: edited).map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(files.count == 2 && files[0].hasSuffix("# media\n") && files[1].hasSuffix("# top\n"))
    }

    @Test func filterAppliesToMultivariantPlaylistsOnly() throws {
        let edit = CustomEdit(filter: "only-first", title: "First", summary: "Keep the first variant.") { playlist, _ in
            try EditPlan([.bandwidth(PartialRange(low: nil, high: playlist.variants.first?.bandwidth))]).applied(
                to: playlist
            )
        }
        try PlaylistEdit.register(edit)
        let plan = EditPlan([try PlaylistEdit(name: "only-first", value: "")])
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXT-X-STREAM-INF:BANDWIDTH=2\nb\n"
        #expect(try plan.applied(to: MultivariantPlaylist(parsing: Array(text.utf8))).variants.map(\.uri) == ["a"])
        #expect(throws: PlaylistEditError.wrongKind(edit: "only-first", expected: "multivariant")) {
            try plan.applied(to: try media())
        }
    }

    @Test func errorsAndLimitsOfAnEditAreReported() throws {
        try registered("fail", { _, _ in throw Unexpected() })
        let plan = EditPlan([try PlaylistEdit(name: "fail", value: "")])
        let error = #expect(throws: PlaylistEditError.failed(edit: "fail", reason: "no such tag")) {
            try plan.applied(to: try media())
        }
        #expect(error?.description == "fail has failed: no such tag" && error?.code.rawValue == "edit-failed")
        try registered("own-error", { _, _ in throw PlaylistEditError.cannotStitch(reason: "r") })
        #expect(throws: PlaylistEditError.cannotStitch(reason: "r")) {
            try EditPlan([PlaylistEdit(name: "own-error", value: "")]).applied(to: try media())
        }
        try registered("grow")
        let size = Self.text.utf8.count + 4
        let grow = EditPlan([try PlaylistEdit(name: "grow", value: "a")])
        #expect(try grow.applied(to: try media(), limits: PlaylistLimits(byteCount: size)).bytes.count == size)
        #expect(throws: PlaylistEditError.tooLarge(.byteCount(size - 1))) {
            try grow.applied(to: try media(), limits: PlaylistLimits(byteCount: size - 1))
        }
        #expect(throws: PlaylistEditError.tooLarge(.entryCount(2))) {
            try grow.applied(to: try media(), limits: PlaylistLimits(entryCount: 2))
        }
    }

    @Test func resultHasTheURLOfTheSource() throws {
        try registered("forget-context", { playlist, _ in try MediaPlaylist(parsing: playlist.bytes) })
        let source = try MediaPlaylist(
            parsing: Array(Self.text.utf8),
            context: PlaylistContext(address: ResourceAddress("https://h/x/list.m3u8"))
        )
        let edited = try EditPlan([PlaylistEdit(name: "forget-context", value: "")]).applied(to: source)
        #expect(edited.segments.map(\.address.text) == ["https://h/x/0.ts"])
    }

    @Test(arguments: [
        "", "Upper", "1st", "-a", "a b", "a=b", "url", "signature", "redundant", "max-height", "ä", "twice",
    ])
    func nameIsUnusedAndHasLowercaseLetters(name: String) throws {
        if name == "twice" { try registered(name) }
        let error = #expect(throws: PlaylistEditError.invalidName(name)) { try registered(name) }
        #expect(error?.code.rawValue == "invalid-edit-name")
    }
}
