import Foundation
import TestSamples
import Testing

/// Translates DASH presentations with the program, and plays and validates the playlists that it writes.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct TranslateCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("translate-\(UUID())")

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments).result()
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @Test(.timeLimit(.minutes(10)), arguments: ["dash-number", "dash-timeline", "dash-ondemand"])
    func presentationIsTranslatedAndPlayedToItsEnd(_ sample: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let result = try await run("translate", origin.address("\(sample)/manifest.mpd"), "-o", folder.path, "--json")
        #expect(result.status == 0, "\(result.errors)")
        let report = try json(result.output)
        let playlists = try #require(report["playlists"] as? [[String: Any]])
        #expect(playlists.count >= 3)
        #expect((report["losses"] as? [Any])?.isEmpty == true, "\(result.output)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(names) == Set(["multivariant.m3u8"] + playlists.compactMap { $0["file"] as? String }))
        #expect(playlists.allSatisfy { abs(($0["duration"] as? Double ?? 0) - 40) < 0.1 })

        let validated = try await run("validate", path("multivariant.m3u8"), "--follow", "--rules", "rfc")
        #expect(validated.status == 0, "\(validated.output)")

        origin.clearPaths()
        let translated = try await RecordingOrigin(folder)
        let played = try await run(
            "play",
            translated.address("multivariant.m3u8"),
            "--no-decode",
            "--speed",
            "max",
            "--metrics",
            path("metrics.json")
        )
        await translated.stop()
        await origin.stop()
        #expect(played.status == 0, "\(played.errors)")
        let metrics = try json(String(contentsOfFile: path("metrics.json"), encoding: .utf8))
        let watched = try #require(metrics["watchedDuration"] as? Double)
        #expect(abs(watched - 40) < 0.5)
        #expect(metrics["errors"] as? Int == 0)
        // The segments come from the origin of the presentation.
        #expect(origin.paths.allSatisfy { $0.contains("\(sample)/") } && origin.paths.count >= 20)
    }

    @Test(.timeLimit(.minutes(10))) func manifestsAreInspected() async throws {
        let sample = try #require(Samples.directory).appendingPathComponent("dash-number/manifest.mpd").path
        let report = try json(try await run("inspect", sample, "--json").output)
        #expect(report["kind"] as? String == "dash" && report["type"] as? String == "static")
        let period = try #require((report["periods"] as? [[String: Any]])?.first)
        let sets = try #require(period["adaptationSets"] as? [[String: Any]])
        let representation = try #require((sets.first?["representations"] as? [[String: Any]])?.first)
        #expect(representation["segmentCount"] as? Int == 10)
        #expect((representation["segments"] as? [[String: Any]])?.count == 10)
        let table = try await run("inspect", sample)
        #expect(table.status == 0 && table.output.contains("DASH presentation, static, 00:40"))
        // The cells of a column begin below its name, and each column has one kind of value.
        let lines = table.output.split(separator: "\n").map(String.init)
        let header = try #require(lines.first { $0.hasPrefix("type ") })
        #expect(header.split(separator: " ").joined(separator: " ").hasPrefix("type representation "), "\(header)")
        let rows = lines.filter { $0.hasPrefix("video ") || $0.hasPrefix("audio ") }
        for name in ["representation", "bandwidth", "codecs", "segments"] {
            let column = try #require(header.range(of: name)).lowerBound.utf16Offset(in: header)
            for row in rows {
                let (before, cell) = (row.dropFirst(column - 1).first, row.dropFirst(column).first)
                #expect(before == " " && cell != nil && cell != " ", "\(name): \(row)")
            }
        }
        #expect(rows.count > 1, "\(table.output)")
    }

    @Test(.timeLimit(.minutes(10))) func manifestsAreValidated() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let sample = try #require(Samples.directory).appendingPathComponent("dash-timeline/manifest.mpd").path
        let good = try await run("validate", sample)
        #expect(good.status == 0 && good.output.contains("1 manifest validated against 91 rules of dash: 0 errors"))

        let manifest = try String(contentsOfFile: sample, encoding: .utf8)
        try Data(manifest.replacing("minBufferTime=", with: "minimumBufferTime=").utf8)
            .write(to: URL(fileURLWithPath: path("bad.mpd")))
        let bad = try await run("validate", path("bad.mpd"), "--format", "json")
        let report = try json(bad.output)
        #expect(bad.status == 2 && report["rules"] as? [String] == ["dash"] && report["errors"] as? Int == 1)
        let playlist = try #require((report["playlists"] as? [[String: Any]])?.first)
        let codes = (playlist["diagnostics"] as? [[String: Any]])?.compactMap { $0["code"] as? String } ?? []
        #expect(playlist["kind"] as? String == "dash" && codes.contains("dash-missing-attribute"))
        let sarif = try await run("validate", path("bad.mpd"), "--rules", "rfc,dash", "--format", "sarif")
        let runs = try #require(try json(sarif.output)["runs"] as? [[String: Any]])
        let results = try #require(runs.first?["results"] as? [[String: Any]])
        #expect(sarif.status == 2 && results.contains { $0["ruleId"] as? String == "dash-missing-attribute" })

        let refused = try await run("validate", path("bad.mpd"), "--rules", "rfc")
        #expect(refused.status == 64 && refused.errors.contains("use --rules dash"), "\(refused)")
        try Data("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n".utf8)
            .write(to: URL(fileURLWithPath: path("a.m3u8")))
        #expect(try await run("validate", path("a.m3u8"), "--rules", "dash").status == 64)
        #expect(try await run("validate", path("a.m3u8"), "--rules", "rfc,dash").status == 0)
    }

    @Test(.timeLimit(.minutes(10))) func failuresHaveTheirExitStatus() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let cases: [(text: String, status: Int32, code: String)] = [
            ("<MPD", 2, "invalid-manifest"), ("#EXTM3U\n", 2, "invalid-manifest"),
            (#"<!DOCTYPE MPD [<!ENTITY a "a">]><MPD>&a;</MPD>"#, 2, "invalid-manifest"),
            (#"<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period/></MPD>"#, 1, "dash-nothing-to-play"),
        ]
        for (text, status, code) in cases {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path("manifest.mpd")))
            let result = try await run("translate", path("manifest.mpd"), "-o", path("out"))
            #expect(result.status == status && result.errors.contains("(\(code))"), "\(result)")
            #expect(!FileManager.default.fileExists(atPath: path("out")))
        }
        #expect(try await run("translate").status == 64)
        #expect(try await run("translate", "-", "--follow").status == 64)
    }

    @Test(.timeLimit(.minutes(10))) func segmentIndexThatCannotBeReadIsReported() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let representations = ["a", "b"].map {
            #"<Representation id="\#($0)" bandwidth="1" codecs="avc1.64001f"><BaseURL>\#($0).mp4</BaseURL>"#
                + #"<SegmentBase indexRange="100-143"/></Representation>"#
        }
        let manifest = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" mediaPresentationDuration="PT4S"><Period>
            <AdaptationSet mimeType="video/mp4">\(representations.joined())</AdaptationSet></Period></MPD>
            """
        try Data(manifest.utf8).write(to: URL(fileURLWithPath: path("manifest.mpd")))
        try Data(count: 4_000).write(to: URL(fileURLWithPath: path("a.mp4")))
        // A sidx box with one reference to 1,000 bytes of four seconds.
        let fields: [UInt32] = [44, 0x7369_6478, 0, 1, 1, 0, 0, 1, 1_000, 4, 0x9000_0000]
        let box = fields.flatMap { field in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: field >> $0) } }
        try (Data(count: 100) + Data(box) + Data(count: 1_000)).write(to: URL(fileURLWithPath: path("b.mp4")))
        let result = try await run("translate", path("manifest.mpd"), "-o", path("out"), "--json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("sidx is missing"))
        let losses = try #require(try json(result.output)["losses"] as? [[String: Any]])
        #expect(losses.map { $0["code"] as? String } == ["missing-segment-index"])
        let playlist = try String(contentsOfFile: path("out/video-b.m3u8"), encoding: .utf8)
        #expect(playlist.contains("#EXT-X-BYTERANGE:1000@144\n#EXTINF:4,\n"), "\(playlist)")
    }
}
