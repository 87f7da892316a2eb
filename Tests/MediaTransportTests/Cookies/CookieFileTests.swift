import Foundation
import MediaTransport
import ResourceAddressing
import Testing

private let newYear = UnixSeconds(1_767_225_600)

@Suite struct CookieFileTests {
    /// A file in curl's format, newest cookie first: a domain cookie, an HttpOnly session cookie, a host cookie and one
    /// for localhost.
    private let curlFile = """
        # Netscape HTTP Cookie File
        # A line that curl would have written about itself.

        .media.example\tTRUE\t/\tTRUE\t1798761600\tpass\tabc=12==
        #HttpOnly_www.media.example\tFALSE\t/vod\tFALSE\t0\tsession\txyz
        www.media.example\tFALSE\t/\tFALSE\t1798761600\tempty\t
        .localhost\tTRUE\t/\tFALSE\t0\tdev\t1

        """

    private func sent(_ jar: CookieJar, _ address: String) -> String? {
        jar.header(for: ResourceAddress(address), now: newYear)
    }

    private func read(_ line: String) -> CookieJar { CookieJar(netscapeFile: line, now: newYear) }

    @Test func curlCookieFileIsParsed() {
        let jar = read(curlFile)
        #expect(jar.count == 4)
        #expect(sent(jar, "https://www.media.example/vod/1") == "session=xyz; pass=abc=12==; empty=")
        #expect(sent(jar, "https://cdn.media.example/vod/1") == "pass=abc=12==")
        #expect(sent(jar, "http://www.media.example/") == "empty=")
        #expect(sent(jar, "http://localhost/") == "dev=1" && sent(jar, "http://a.localhost/") == nil)
    }

    @Test func fileIsWrittenInNetscapeFormat() {
        let jar = CookieJar()
        let address = ResourceAddress("https://www.media.example/vod/list")
        jar.store(setCookie: "a=1; Domain=media.example; Path=/; Secure; Max-Age=60", from: address, now: newYear)
        jar.store(setCookie: "b=x y; HttpOnly", from: address, now: newYear)
        let lines = jar.netscapeText(now: newYear).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "# Netscape HTTP Cookie File" && lines.last == "")
        #expect(
            lines.dropFirst(3).dropLast() == [
                ".media.example\tTRUE\t/\tTRUE\t1767225660\ta\t1",
                "#HttpOnly_www.media.example\tFALSE\t/vod\tFALSE\t0\tb\tx y",
            ]
        )
    }

    @Test func cookieFileRoundTrips() {
        let jar = read(curlFile)
        let address = ResourceAddress("https://www.media.example/vod/list")
        let fields = [
            "nameless", "a=", "a=\u{FC}", "__Host-x=1; Secure; Path=/", "pass=2; Domain=media.example; Path=/",
        ]
        for field in fields {
            jar.store(setCookie: field, from: address, now: newYear)
        }
        let text = jar.netscapeText(now: newYear)
        let again = read(text)
        #expect(again.netscapeText(now: newYear) == text && again.count == jar.count && jar.count == 7)
        #expect(again.header(for: address, now: newYear) == jar.header(for: address, now: newYear))
    }

    @Test func expiredCookiesAreNeitherReadNorWritten() {
        let jar = read("a.example\tFALSE\t/\tFALSE\t1767225600\ta\t1\nb.example\tFALSE\t/\tFALSE\t1767225601\tb\t2\n")
        #expect(jar.count == 1)
        #expect(!jar.netscapeText(now: newYear.later).contains("b.example"))
    }

    @Test(arguments: [
        "a.example\tFALSE\t/\tFALSE\t0\ta\t1", "a.example\tFALSE\t/\tFALSE\t0\ta\t1\r\n",
        "\u{FEFF}a.example\tFALSE\t/\tFALSE\t0\ta\t1", "A.Example\tfalse\t/\tfalse\t\ta\t1",
        "a.example\tFALSE\t/\tFALSE\t1798761600.75\ta\t1", ".a.example\tTRUE\t/\tFALSE\t99999999999999999999\ta\t1",
        "# a comment\n\n   \n#HttpOnly_a.example\tFALSE\t/\tFALSE\t0\ta\t1\n#HttpOnly",
    ])
    func variationsOfTheFormatAreAccepted(text: String) {
        #expect(sent(read(text), "http://a.example/") == "a=1")
    }

    @Test(arguments: [
        "a.example", "a.example FALSE / FALSE 0 a 1", "a.example\tFALSE\t/\tFALSE\t0", "\tFALSE\t/\tFALSE\t0\ta\t1",
        "a.example\tyes\t/\tFALSE\t0\ta\t1", "a.example\tFALSE\t\tFALSE\t0\ta\t1",
        "a.example\tFALSE\tx\tFALSE\t0\ta\t1",
        "a.example\tFALSE\t/\tFALSE\t-1\ta\t1", "a.example\tFALSE\t/\tFALSE\tsoon\ta\t1",
        "a.example\tFALSE\t/\tFALSE\t0\ta\t1\t2", "a.example\tFALSE\t/\tFALSE\t0\t\t", "..\tFALSE\t/\tFALSE\t0\ta\t1",
        "a.example\tFALSE\t/\tFALSE\t0\ta\t1; b=2", "a.example\tFALSE\t/\tFALSE\t0\ta=b\t1",
        "a.example\tFALSE\t/\tFALSE\t0\ta\t1\u{7F}", "a.ex\u{E4}mple\tFALSE\t/\tFALSE\t0\ta\t1",
        ".\u{301}a.example\tTRUE\t/\tFALSE\t0\ta\t1",
        "a.example\tFALSE\t/\tFALSE\t0\t__Secure-a\t1", "a.example\tTRUE\t/\tTRUE\t0\t__Host-a\t1",
        "a.example\tFALSE\t/\tFALSE\t.5\ta\t1",
    ])
    func invalidLinesAreSkipped(line: String) {
        #expect(read(line + "\nb.example\tFALSE\t/\tFALSE\t0\tb\t2").count == 1)
    }

    /// Some editors remove the tab at the end of a line.
    @Test func lineWithoutTheTabBeforeAnEmptyValueIsAccepted() {
        let jar = read("a.example\tFALSE\t/\tFALSE\t0\ta\n")
        #expect(sent(jar, "http://a.example/") == "a=" && jar.count == 1)
    }

    @Test func cookieForAPublicSuffixIsHostOnly() {
        let jar = read(".com\tTRUE\t/\tFALSE\t0\ta\t1\n.co.uk\tTRUE\t/\tFALSE\t0\ta\t1\n")
        #expect(sent(jar, "https://example.com/") == nil && sent(jar, "https://example.co.uk/") == nil)
    }

    @Test func fileWithTooManyCookiesIsReadUpToTheLimit() {
        let lines = (0..<10_000).map { "h\($0).example\tFALSE\t/\tFALSE\t0\ta\t1" }
        let jar = read(lines.joined(separator: "\n"))
        #expect(jar.count == 3000 && sent(jar, "http://h9999.example/") == "a=1")
    }

    // MARK: Files

    private func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cookies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.path)
    }

    @Test func savedJarIsReadableByItsOwnerOnlyAndCanBeLoaded() throws {
        try withFolder { folder in
            let path = folder + "/jar.txt"
            try "old".write(toFile: path, atomically: false, encoding: .utf8)
            try read(curlFile).save(to: path, now: newYear)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(files == ["jar.txt"])
            let jar = CookieJar()
            try jar.load(from: path, now: newYear)
            #expect(jar.netscapeText(now: newYear) == read(curlFile).netscapeText(now: newYear))
        }
    }

    @Test func missingFileAndEmptyFileGiveAnEmptyJar() throws {
        try withFolder { folder in
            let jar = CookieJar()
            try jar.load(from: folder + "/none", now: newYear)
            try Data().write(to: URL(fileURLWithPath: folder + "/empty"))
            try jar.load(from: folder + "/empty", now: newYear)
            #expect(jar.count == 0)
        }
    }

    @Test func readAndWriteFailuresAreReportedWithAReason() throws {
        try withFolder { folder in
            let reading = #expect(throws: TransportError.self) { try CookieJar().load(from: folder, now: newYear) }
            #expect(reading?.code == .fileFailed && reading?.message.contains("Is a directory") == true)
            for path in [folder, folder + "/none/jar.txt"] {
                let writing = #expect(throws: TransportError.self) { try CookieJar().save(to: path, now: newYear) }
                #expect(writing?.code == .fileFailed && writing?.message.contains(path) == true)
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(files.isEmpty)
        }
    }

    @Test(arguments: ["A letter to my aunt.\n", "{\"cookies\": []}", "\u{0}\u{1}PNG", "#!/bin/sh\nexit 0\n"])
    func fileOfAnotherFormatIsRejected(text: String) throws {
        try withFolder { folder in
            let path = folder + "/letter"
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            let error = #expect(throws: TransportError.self) { try CookieJar().load(from: path, now: newYear) }
            #expect(error?.message.contains("not a cookie file") == true)
        }
    }

    @Test func fileThatIsTooLargeIsRejected() throws {
        try withFolder { folder in
            let path = folder + "/large"
            try Data("# Netscape HTTP Cookie File\n".utf8).write(to: URL(fileURLWithPath: path))
            #expect(truncate(path, 33_554_433) == 0)
            let error = #expect(throws: TransportError.self) { try CookieJar().load(from: path, now: newYear) }
            #expect(error?.code == .fileFailed)
            #expect(error?.message == "\(path) is too large for a cookie file; choose another file")
        }
    }

    @Test func errorsNameTheFileAndTheReason() throws {
        try withFolder { folder in
            let reading = #expect(throws: TransportError.self) { try CookieJar().load(from: folder, now: newYear) }
            #expect(reading?.message == "the cookie file \(folder) cannot be read (Is a directory)")
            let letter = folder + "/letter"
            try Data("Dear aunt\n".utf8).write(to: URL(fileURLWithPath: letter))
            let foreign = #expect(throws: TransportError.self) { try CookieJar().load(from: letter, now: newYear) }
            #expect(
                foreign?.message == "\(letter) is not a cookie file in the Netscape format; choose another file"
            )
            let writing = #expect(throws: TransportError.self) { try CookieJar().save(to: folder, now: newYear) }
            #expect(writing?.code == .fileFailed && writing?.message.contains("cannot be written (") == true)
            let missing = folder + "/none/jar"
            let lost = #expect(throws: TransportError.self) { try CookieJar().save(to: missing, now: newYear) }
            #expect(lost?.message == "the cookie file \(missing) cannot be written (No such file or directory)")
            for head in ["# Netscape HTTP Cookie File", "# HTTP Cookie File", "\u{FEFF}# HTTP Cookie File"] {
                try Data((head + "\nno cookie\n").utf8).write(to: URL(fileURLWithPath: letter))
                try CookieJar().load(from: letter, now: newYear)
            }
        }
    }

    @Test(arguments: [(4_096, true), (4_097, false)])
    func nameAndValueOfALineAreLimitedTo4096Bytes(count: Int, isRead: Bool) {
        let value = String(repeating: "x", count: count - 1)
        #expect(read("a.example\tFALSE\t/\tFALSE\t0\tn\t\(value)").count == (isRead ? 1 : 0))
    }

    @Test func cookieForAnIPAddressIsHostOnly() {
        let jar = read(".0.0.1\tTRUE\t/\tFALSE\t0\ta\t1\n.a.example\tTRUE\t/\tFALSE\t0\tb\t2\n")
        #expect(sent(jar, "https://127.0.0.1/") == nil && sent(jar, "https://x.a.example/") == "b=2")
        let text = jar.netscapeText(now: newYear)
        #expect(text.contains("\n0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n.a.example\tTRUE\t"))
    }

    @Test func lifetimeOfACookieInAFileIsAtMost400Days() {
        let last = newYear.rawValue + 400 * 86_400
        let jar = read("a.example\tFALSE\t/\tFALSE\t\(last + 1)\ta\t1\nb.example\tFALSE\t/\tFALSE\t\(last)\tb\t1\n")
        let lines = jar.netscapeText(now: newYear).split(separator: "\n").suffix(2)
        #expect(lines == ["a.example\tFALSE\t/\tFALSE\t\(last)\ta\t1", "b.example\tFALSE\t/\tFALSE\t\(last)\tb\t1"])
    }

    @Test func invalidUTF8AffectsOnlyItsLine() throws {
        try withFolder { folder in
            let path = folder + "/jar.txt"
            let bad = Array("a.example\tFALSE\t/\tFALSE\t0\ta\t".utf8) + [0xFF, 0x0A]
            try Data(bad + Array("b.example\tFALSE\t/\tFALSE\t0\tb\t2\n".utf8)).write(to: URL(fileURLWithPath: path))
            let jar = CookieJar()
            try jar.load(from: path, now: newYear)
            #expect(jar.count == 1 && sent(jar, "http://b.example/") == "b=2")
        }
    }

    @Test func savingFollowsASymbolicLink() throws {
        try withFolder { folder in
            let (file, link) = (folder + "/file", folder + "/link")
            try Data().write(to: URL(fileURLWithPath: file))
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
            try read(curlFile).save(to: link, now: newYear)
            let destination = try FileManager.default.destinationOfSymbolicLink(atPath: link)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(destination == file && text.contains("session"))
        }
    }

    @Test func savingWritesToAPipeWithoutReplacingIt() throws {
        try withFolder { folder in
            let path = folder + "/pipe"
            try #require(mkfifo(path, 0o600) == 0)
            // Open the pipe for both reading and writing, so that neither end blocks.
            let both = try #require(FileHandle(forUpdatingAtPath: path))
            try read(curlFile).save(to: path, now: newYear)
            let text = read(curlFile).netscapeText(now: newYear)
            var status = stat()
            // A regular file in place of the pipe would make the read below block.
            try #require(stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
            let written = try both.read(upToCount: text.utf8.count)
            #expect(written == Data(text.utf8))
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(files == ["pipe"])
        }
    }
}

extension UnixSeconds {
    fileprivate var later: UnixSeconds { UnixSeconds(rawValue + 1) }
}
