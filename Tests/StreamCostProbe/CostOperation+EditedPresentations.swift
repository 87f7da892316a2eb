import CostOperations
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamServer
import PlaylistEditing
import ReportFormat
import ResourceAddressing

extension CostOperation {
    private static let base = "https://h/v/"

    /// The operations that edit presentations as the server does, and that follow a presentation as the program does.
    static var editedPresentations: [CostOperation] { edited + followed + dependentEdits }

    private static let shapes: Set<String> = [
        "variants", "variants-of-one-group", "variants-of-one-address", "variants-of-one-size-and-rate",
        "variants-with-groups-of-their-own", "variants-and-renditions-of-one-group", "i-frame-variants",
        "renditions-of-one-name", "variables", "long-variable-not-used",
        "session-keys-alike",
    ]

    private static var edited: [CostOperation] {
        let edits: [(String, [(String, String)])] = [
            ("addresses", [("absolute", "")]), ("stitched", [("append", base + "other.m3u8")]),
            ("shortened", [("start", "2"), ("duration", "4")]),
        ]
        return PlaylistShape.multivariant.filter { shapes.contains($0.name) }.flatMap { shape in
            edits.map { name, edits in
                CostOperation("edited/\(name)/\(shape.name)", size: 40) { count in
                    let text = String(decoding: shape.bytes(count), as: UTF8.self)
                    return try loading([base + "top.m3u8": [text], base + "other.m3u8": [text]], edits)
                }
            }
        }
            + PlaylistShape.media.filter {
                ["everything-on-demand", "one-long-map", "byte-ranges-without-offset", "one-key-without-vector"]
                    .contains($0.name)
            }.flatMap { shape in
                edits.dropLast().map { name, edits in
                    CostOperation("edited/\(name)/\(shape.name)", size: 40) { count in
                        let text = String(decoding: shape.bytes(count), as: UTF8.self)
                        return try loading([base + "top.m3u8": [text], base + "other.m3u8": [text]], edits)
                    }
                }
            }
    }

    private static func loading(_ texts: [String: [String]], _ edits: [(String, String)]) throws -> () throws -> Void {
        var texts = texts
        let child = "#EXTM3U\n" + PlaylistShape.header + repeated(4, PlaylistShape.segment) + PlaylistShape.end
        // The media playlists that determine the duration of gaps.
        for name in ["v0.m3u8", "0.m3u8", "v.m3u8", "a.m3u8", "a0.m3u8"] { texts[base + name] = [child] }
        let plan = EditPlan(try edits.map { try PlaylistEdit(name: $0, value: $1) })
        let origin = MemoryOrigin(texts)
        let address = EditedTransport.address(of: ResourceAddress(base + "top.m3u8"), plan)
        return {
            let size = try wait {
                let transport = EditedTransport(origin, policy: RecoveryPolicy(retries: 0))
                let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
                return try await loader.load(TransportRequest(address, kind: .playlist), limit: ByteCount(1 << 30))
                    .bytes
                    .count
            }
            precondition(size > 0)
        }
    }

    /// The operations that parse the media playlists of a presentation with the variables of its multivariant playlist,
    /// and report them.
    private static var followed: [CostOperation] {
        [
            followed("variants") { _ in "" },
            followed("that-import-variables", variables: true) { "#EXT-X-DEFINE:IMPORT=\"w\($0)\"\n" },
            followed("that-import-one-variable", variables: true) { _ in "#EXT-X-DEFINE:IMPORT=\"w1\"\n" },
            followed("that-import-nothing", variables: true) { _ in "" },
        ]
    }

    private static func followed(
        _ name: String,
        variables: Bool = false,
        _ header: @escaping (Int) -> String
    ) -> CostOperation {
        CostOperation("followed/\(name)", size: 40) { count in
            let definitions = repeated(variables ? count : 0) { "#EXT-X-DEFINE:NAME=\"w\($0)\",VALUE=\"x\"\n" }
            let top = Array(("#EXTM3U\n" + definitions + repeated(count, PlaylistShape.variant)).utf8)
            let children = (0..<count).map {
                Array(
                    ("#EXTM3U\n" + PlaylistShape.header + header($0) + PlaylistShape.segment($0) + PlaylistShape.end)
                        .utf8
                )
            }
            return {
                let address = ResourceAddress(base + "top.m3u8")
                let multivariant = try MultivariantPlaylist(parsing: top, context: PlaylistContext(address: address))
                var size = Playlist.multivariant(multivariant).report.json.utf8.count
                for (variant, bytes) in zip(multivariant.variants, children) {
                    let context = PlaylistContext(
                        address: variant.address,
                        importableVariables: multivariant.variables
                    )
                    size += try Playlist.parse(bytes, context: context).report.json.utf8.count
                }
                precondition(size > 0)
            }
        }
    }
}
