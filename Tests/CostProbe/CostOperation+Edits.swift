import CostOperations
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing

extension CostOperation {
    /// The operations that apply every edit, alone and in sequence.
    static var editing: [CostOperation] {
        EditCase.all.map(\.operation) + redundantVariants
            + [
                CostOperation("edit/program/everything-on-demand") { count in
                    let playlist = try mediaPlaylist("everything-on-demand", count)
                    let edits = [
                        ("start", "8"), ("prepend", "o"), ("insert", "o@\(2 * count)"), ("drop-range", "12...24"),
                        ("append", "o"),
                        ("duration", "\(4 * count)"), ("absolute", ""), ("canonical", ""),
                    ]
                    let plan = EditPlan(try edits.map { try PlaylistEdit(name: $0, value: $1) })
                    return { _ = try plan.applied(to: playlist, sources: ["o": playlist]) }
                },
                CostOperation("edit/children/variants") { count in
                    try children(of: "variants", with: "variants", count)
                },
                CostOperation("edit/children/variants-of-one-size-and-rate") { count in
                    try children(
                        of: "variants-of-one-size-and-rate",
                        with: "variants-of-one-size-and-rate",
                        count
                    )
                },
                CostOperation("edit/children/renditions-of-one-language") { count in
                    try children(
                        of: "renditions-of-one-language",
                        with: "renditions-of-one-language",
                        count
                    )
                },
                // The window would contain the segments very often, and the refusal must not cost as much.
                CostOperation("edit/live/refused/short-segments") { count in
                    let segments = (0..<count).map { "#EXTINF:0.001,\n\($0).ts\n" }.joined()
                    let text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(segments)#EXT-X-ENDLIST\n"
                    let playlist = try MediaPlaylist(parsing: Array(text.utf8))
                    let plan = EditPlan([try PlaylistEdit(name: "live", value: "loop,window=86400")])
                    return { precondition((try? plan.applied(to: playlist, date: date)) == nil) }
                },
                CostOperation("edit/gap", size: 100) { count in
                    let address = try GapPlaylist.address(of: MediaTime(seconds: Int64(10 * count)))
                    return { precondition(GapPlaylist.playlist(at: address)?.segments.count == count) }
                },
            ]
    }

    /// The operations that find redundant variants.
    private static var redundantVariants: [CostOperation] {
        ["variants-and-renditions-of-one-group", "attributes-in-one-line"].map { shape in
            CostOperation("edit/redundant/\(shape)") { count in
                let playlist = try multivariantPlaylist(shape, count)
                return { precondition(RedundantVariants(in: playlist).groups.isEmpty) }
            }
        }
    }

    /// The date at which simulated channels are requested.
    static let date = SimulatedChannel.defaultStart.advanced(by: MediaTime(seconds: 100_000_000))

    /// Returns an operation that plans the edits of every variant and rendition when another presentation is stitched
    /// in.
    private static func children(
        of shape: String,
        with guest: String,
        _ count: Int
    ) throws -> () throws -> Void {
        let playlist = try multivariantPlaylist(shape, count)
        let other = try multivariantPlaylist(guest, count)
        let plan = EditPlan([.append("o"), .prepend("o")])
        return {
            let plans = plan.childPlans(sources: ["o": .multivariant(other)], gaps: ["o": "gap:4"])
            for variant in playlist.variants { _ = try plans.plan(for: .variant(variant)) }
            for rendition in playlist.renditions { _ = try plans.plan(for: .rendition(rendition)) }
        }
    }

    /// The operations that validate a multivariant playlist together with many media playlists.
    static var presentations: [CostOperation] {
        [
            presentation("alike") { _ in PlaylistShape.segment(0) + PlaylistShape.end },
            presentation("with-one-key") { _ in "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n" + PlaylistShape.segment(0) },
            presentation("with-date-ranges") { "#EXT-X-DATERANGE:ID=\"d\",X-A=\"\($0)\"\n" + PlaylistShape.segment(0) },
            presentation("with-reports-of-one-address") { _ in
                "#EXT-X-PART:DURATION=1,URI=\"p\"\n" + PlaylistShape.segment(0)
                    + "#EXT-X-RENDITION-REPORT:URI=\"v0.m3u8\"\n"
            },
            presentation("behind-one-redirect", redirected: true) { _ in
                "#EXT-X-PART:DURATION=1,URI=\"p\"\n" + PlaylistShape.segment(0)
                    + "#EXT-X-RENDITION-REPORT:URI=\"one.m3u8\"\n"
            },
            presentation("that-import-variables", variables: true) { _ in
                "#EXT-X-DEFINE:IMPORT=\"w1\"\n" + PlaylistShape.segment(0)
            },
        ]
    }

    private static func presentation(
        _ name: String,
        redirected: Bool = false,
        variables: Bool = false,
        _ child: @escaping (Int) -> String
    ) -> CostOperation {
        CostOperation("presentation/\(name)", size: 60) { count in
            let definitions = repeated(variables ? count : 0) { "#EXT-X-DEFINE:NAME=\"w\($0)\",VALUE=\"x\"\n" }
            let address = ResourceAddress("https://h/v/top.m3u8")
            let multivariant = try MultivariantPlaylist(
                parsing: Array(("#EXTM3U\n" + definitions + repeated(count, PlaylistShape.variant)).utf8),
                context: PlaylistContext(address: address)
            )
            var playlists: [ResourceAddress: Playlist] = [:]
            for number in 0..<count {
                let own = address.resolving("v\(number).m3u8")
                playlists[own] = try Playlist.parse(
                    Array(("#EXTM3U\n" + PlaylistShape.header + child(number)).utf8),
                    context: PlaylistContext(
                        address: redirected && number < count - 1 ? address.resolving("one.m3u8") : own,
                        importableVariables: multivariant.variables
                    )
                )
            }
            let validation = PresentationValidation(multivariant, playlists: playlists)
            return { precondition(validation.diagnostics(of: [.rfc, .apple]).count == count + 1) }
        }
    }
}
