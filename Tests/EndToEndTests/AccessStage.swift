import Foundation
import MillstreamTesting
import Testing

/// A server with secrets, a browser, and an origin that represents a private host, a proxy for a public host, and
/// another site.
struct AccessStage {
    /// The value of the `Authorization` field in the options of the server.
    static let token = "Bearer of-the-owner"
    /// A public address, for which the origin responds as a proxy.
    static let publicHost = "http://8.8.8.8"

    let origin: MisbehavingServer
    let browser: Chromium
    /// The running server.
    let program: RunningProgram
    /// A folder for files of the test.
    let folder: URL
    /// The address of the server, without a trailing slash.
    let server: String
    let serverPort: Int

    /// Runs a server and a browser.
    ///
    /// - Parameters:
    ///   - arguments: Further arguments of `millstream serve`.
    ///   - act: A function that uses them.
    /// - Throws: The errors of `act`, and those of a server or browser that cannot be started.
    static func run(arguments: [String] = [], _ act: (AccessStage) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("access-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await MisbehavingServer.withServer { origin in
            try addResources(to: origin)
            let jar = folder.appendingPathComponent("cookies.txt")
            let lines = ["127.0.0.1", "8.8.8.8"].map { "\($0)\tFALSE\t/\tFALSE\t4102444800\tsession\tof-the-owner" }
            try Data(("# Netscape HTTP Cookie File\n" + lines.joined(separator: "\n") + "\n").utf8).write(to: jar)
            let program = try RunningProgram(
                [
                    "serve", "--port", "0", "--library", folder.appendingPathComponent("library").path, "--catalog",
                    origin.address("/catalog.json"), "--header", "Authorization: \(token)", "--cookie-jar", jar.path,
                    "--proxy", "127.0.0.1:\(origin.port)",
                ] + arguments
            )
            let address = try await program.match("(http://[0-9.:]+)/")
            let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
            let browser = try Chromium(hosts: ["evil.example": "127.0.0.1"])
            defer { browser.close() }
            try await act(
                AccessStage(
                    origin: origin,
                    browser: browser,
                    program: program,
                    folder: folder,
                    server: address,
                    serverPort: port
                )
            )
            program.send(SIGTERM)
            #expect(try await program.finish() == 0)
        }
    }

    /// A media initialization section of a video track without samples (ISO/IEC 14496-12).
    private static let initialization = """
        AAABv21vb3YAAABsbXZoZAAAAAAAAAAAAAAAAAAAA+gAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEjdHJhawAAAFx0a2hkAAAAAAAAAAAAAAAAAAAAAQAA\
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAv21kaWEA\
        AAAgbWRoZAAAAAAAAAAAAAAAAAAAA+gAAAAAVcQAAAAAACFoZGxyAAAAAAAAAAB2aWRlAAAAAAAAAAAAAAAAAAAAAHZtaW5mAAAA\
        bnN0YmwAAABmc3RzZAAAAAAAAAABAAAAVmF2YzEAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAACgAFoAAAAAAAAAAAAAAAAAAAAAAAA\
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAobXZleAAAACB0cmV4AAAAAAAAAAEAAAABAAAAZAAAAAQAAAAA
        """
    /// A movie fragment with two samples that starts at zero.
    private static let fragment = """
        AAAAUG1vb2YAAAAQbWZoZAAAAAAAAAABAAAAOHRyYWYAAAAQdGZoZAACAAAAAAABAAAAEHRmZHQAAAAAAAAAAAAAABB0cnVuAAAA\
        AAAAAAIAAAAQbWRhdAAAAAAAAAAA
        """

    /// Adds the page of another site, the catalog, and the streams of both hosts to the origin.
    private static func addResources(to origin: MisbehavingServer) throws {
        let html = "<!DOCTYPE html><title>another site</title><body></body>"
        var resources: [String: MisbehavingServer.Resource] = [
            "page.html": .text(html, contentType: "text/html; charset=utf-8"),
            "poster.png": .init([1], contentType: "image/png"),
        ]
        let type = "application/vnd.apple.mpegurl"
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n%.ts\n#EXT-X-ENDLIST\n"
        for name in ["private", "public"] {
            resources["\(name).m3u8"] = .text(media.replacing("%", with: name), contentType: type)
            resources["\(name).ts"] = .text("segment", contentType: "video/mp2t")
        }
        resources["film.m3u8"] = .text(
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS=\"avc1.64001f\",RESOLUTION=640x360\nvideo.m3u8\n",
            contentType: type
        )
        resources["video.m3u8"] = .text(
            "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"video.mp4\"\n"
                + "#EXTINF:4,\nvideo.m4s\n#EXT-X-ENDLIST\n",
            contentType: type
        )
        for (name, text) in [("video.mp4", initialization), ("video.m4s", fragment)] {
            resources[name] = .init(Array(try #require(Data(base64Encoded: text))), contentType: "video/mp4")
        }
        let catalog = """
            [{"name": "private", "url": "\(origin.address("/private.m3u8"))", "poster": "\(origin.address("/poster.png"))"},
             {"name": "public", "url": "\(publicHost)/public.m3u8"}]
            """
        resources["catalog.json"] = .text(catalog, contentType: "application/json")
        // As a proxy, the origin accepts CONNECT, and responds to the tunneled requests itself.
        origin.behave("*", .status(200))
        for (path, resource) in resources {
            origin.set(path, resource)
            origin.behave(path, .proper)
        }
    }

    // MARK: Pages

    /// Pages of the same host on another port, of another name of this machine, and of another host name.
    var otherPages: [String] {
        ["127.0.0.1", "localhost", "evil.example"].map { "http://\($0):\(origin.port)/page.html" }
    }

    /// Opens a page.
    ///
    /// - Parameters:
    ///   - address: The address of the page.
    ///   - source: The address from which the page is loaded in place of its own; `nil` for its own.
    /// - Returns: The page, which is completely loaded.
    /// - Throws: ``Chromium/Failure``, and ``TimedOut`` for a page that is not loaded in time.
    func open(_ address: String, loadedFrom source: String? = nil) async throws -> Page {
        let page = try await Page(address, in: browser, loadedFrom: source)
        try await eventually("the page is there") { try await page.isTrue("document.readyState === 'complete'") }
        return page
    }

    /// Opens a page and runs a script in it that fills `results`.
    func run(_ script: String, at page: String) async throws -> [String: String] {
        try await run(script, in: try await open(page))
    }

    /// Runs a script in a page that fills `results`.
    ///
    /// - Parameters:
    ///   - script: The script. `read` returns a response as its type, status and body; `tell` returns the code of an error in
    ///     place of the body.
    ///   - page: The page.
    /// - Returns: The results.
    /// - Throws: ``Chromium/Failure`` with the exception of the script.
    func run(_ script: String, in page: Page) async throws -> [String: String] {
        let text = try await page.text(
            """
            (async () => {
              const results = {}
              const server = '\(server)', source = '\(origin.address("/private.m3u8"))'
              const read = async (address, options) => {
                try {
                  const response = await fetch(address, options)
                  return `${response.type} ${response.status} ${await response.text()}`
                } catch { return 'blocked' }
              }
              const tell = async (address, options) => {
                const result = await read(address, options)
                const code = result.split('{"error":{"code":"')[1]?.split('"')[0]
                return code ? result.split(' ', 2).join(' ') + ' ' + code : result
              }
              const load = (name, properties) => new Promise(resolve => {
                const element = document.createElement(name)
                for (const event of ['load', 'loadedmetadata']) element.addEventListener(event, () => resolve('loaded'))
                element.addEventListener('error', () => resolve('error'))
                Object.assign(element, properties)
                document.body.append(element)
              })
              \(script)
              return JSON.stringify(results)
            })()
            """
        )
        return try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
    }

    /// Follows a link from a page of another site, in the same tab.
    ///
    /// - Parameters:
    ///   - address: The address to which the link leads.
    ///   - page: The address of the page with the link.
    /// - Returns: The title and the text of the page that the browser shows then.
    /// - Throws: ``TimedOut`` if the browser shows no page at the address.
    func follow(_ address: String, from page: String) async throws -> String {
        let page = try await open(page)
        _ = try await page.evaluate("void (location.href = '\(address)')")
        let path = try #require(URLComponents(string: address)?.percentEncodedPath)
        let isShown = "location.pathname === '\(path)' && document.readyState === 'complete'"
        var text = ""
        try await eventually("\(address) is shown", within: .seconds(30)) {
            // A page that is being replaced evaluates nothing.
            let shown = try? await page.text("\(isShown) ? document.title + ' ' + document.body.innerText : ''")
            text = shown ?? ""
            return !text.isEmpty
        }
        // The page might hold connections, of which a browser has only six to a server.
        _ = try await page.evaluate("void (location.href = 'about:blank')")
        return text
    }

    // MARK: Requests at the origin

    /// The paths of the media requests that contained the token or the cookie.
    var requestsWithSecrets: [String] {
        origin.requests.filter { request in
            request.header("Authorization") == Self.token
                || request.header("Cookie")?.contains("of-the-owner") == true
        }.map(\.path)
    }

    /// Returns the number of requests whose path has an ending.
    func requests(for path: String) -> Int { origin.requests.filter { $0.path.hasSuffix(path) }.count }
}
