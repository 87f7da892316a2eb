import Foundation
import Synchronization

/// A real browser in headless mode, which is controlled through its debugging pipe.
final class Chromium: @unchecked Sendable {
    // Safe: handles are written under `sending`, and all other mutable state is protected by the mutex.
    private let process = Process()
    private let folder: URL
    private let toBrowser: FileHandle
    private let sending = Mutex(())

    private struct State {
        var nextID = 0
        var waiting: [Int: CheckedContinuation<[String: Any], any Error>] = [:]
        var consoleErrors: [String] = []
        /// The addresses from which pages are loaded in place of their own, by session.
        var sources: [String: String] = [:]
        var isClosed = false
    }

    private let state = Mutex(UncheckedBox(State()))

    /// A value that the compiler cannot check for sendability, which is protected by a mutex.
    private struct UncheckedBox<Value>: @unchecked Sendable {
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    /// An error that the browser returned.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static let executable: String? = ["chromium", "chromium-browser", "google-chrome"].lazy
        .compactMap { name in
            ["/usr/bin/", "/usr/local/bin/", "/snap/bin/"].map { $0 + name }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }.first

    /// Starts a browser; `hosts` maps host names to addresses.
    init(hosts: [String: String] = [:]) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("chromium-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (input, output) = (folder.appendingPathComponent("in").path, folder.appendingPathComponent("out").path)
        guard mkfifo(input, 0o600) == 0, mkfifo(output, 0o600) == 0, let executable = Self.executable else {
            throw Failure(description: "no browser, or no pipes for it")
        }
        // Open each pipe for reading and writing, so that neither side waits for the other.
        guard let writer = FileHandle(forUpdatingAtPath: input), let reader = FileHandle(forUpdatingAtPath: output)
        else {
            throw Failure(description: "the browser's pipes cannot be opened")
        }
        toBrowser = writer
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let flags = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
            "--autoplay-policy=no-user-gesture-required", "--mute-audio", "--window-size=1400,1100",
            "--user-data-dir=\(folder.path)/profile", "--remote-debugging-pipe", "about:blank",
        ]
        let rules = hosts.map { "MAP \($0.key) \($0.value)" }.joined(separator: ",")
        let resolution = hosts.isEmpty ? [] : ["--host-resolver-rules=\(rules)"]
        process.arguments =
            [
                "-c", "exec \"$@\" 3<'\(input)' 4>'\(output)' >/dev/null 2>&1", "sh", executable,
            ] + resolution + flags
        try process.run()
        let thread = Thread { [weak self] in Self.read(reader.fileDescriptor) { self?.receive($0) } }
        thread.start()
    }

    deinit { close() }

    /// Closes the browser.
    func close() {
        let waiting = state.withLock { box in
            box.value.isClosed = true
            defer { box.value.waiting = [:] }
            return Array(box.value.waiting.values)
        }
        for continuation in waiting { continuation.resume(throwing: Failure(description: "the browser was closed")) }
        if process.isRunning {
            kill(process.processIdentifier, SIGTERM)
            for _ in 0..<100 where process.isRunning { usleep(20_000) }
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// The errors that pages wrote to their consoles, and uncaught exceptions.
    var consoleErrors: [String] { state.withLock { $0.value.consoleErrors } }

    /// Sends a command of the DevTools protocol.
    func send(_ method: String, _ parameters: [String: Any] = [:], session: String? = nil) async throws -> [String: Any]
    {
        let box = UncheckedBox(parameters)
        let result = try await withThrowingTaskGroup(of: UncheckedBox<[String: Any]>.self) { group in
            group.addTask { UncheckedBox(try await self.exchange(method, box.value, session)) }
            group.addTask {
                try await Task.sleep(for: .seconds(60))
                throw Failure(description: "\(method) was not answered")
            }
            defer { group.cancelAll() }
            return try await group.next()
        }
        return result?.value ?? [:]
    }

    private func exchange(
        _ method: String,
        _ parameters: [String: Any],
        _ session: String?
    ) async throws -> [String: Any] {
        let id = state.withLock { box in
            box.value.nextID += 1
            return box.value.nextID
        }
        var message: [String: Any] = ["id": id, "method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        let data = try JSONSerialization.data(withJSONObject: message) + Data([0])
        return try await withTaskCancellationHandler {
            UncheckedBox(
                try await withCheckedThrowingContinuation { continuation in
                    let isClosed = state.withLock { box in
                        if !box.value.isClosed { box.value.waiting[id] = continuation }
                        return box.value.isClosed
                    }
                    if isClosed { return continuation.resume(throwing: Failure(description: "the browser is closed")) }
                    sending.withLock { _ in toBrowser.write(data) }
                }
            )
        } onCancel: {
            let continuation = state.withLock { $0.value.waiting.removeValue(forKey: id) }
            continuation?.resume(throwing: CancellationError())
        }.value
    }

    private static func read(_ descriptor: Int32, _ receive: (Data) -> Void) {
        var pending = Data()
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Foundation.read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return }
            pending.append(contentsOf: chunk[..<count])
            while let end = pending.firstIndex(of: 0) {
                receive(pending[pending.startIndex..<end])
                pending.removeSubrange(pending.startIndex...end)
            }
        }
    }

    private func receive(_ data: Data) {
        guard let message = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else { return }
        if let id = message["id"] as? Int {
            let continuation = state.withLock { $0.value.waiting.removeValue(forKey: id) }
            if let error = message["error"] as? [String: Any] {
                continuation?.resume(throwing: Failure(description: "\(error["message"] ?? error)"))
            } else {
                continuation?.resume(returning: message["result"] as? [String: Any] ?? [:])
            }
        } else if let method = message["method"] as? String, let parameters = message["params"] as? [String: Any] {
            note(method, parameters, session: message["sessionId"] as? String)
        }
    }

    /// Makes a session load the page at an address from another address, which the page cannot notice.
    ///
    /// A page can therefore have the host name and the port of a server that did not send it, as after DNS rebinding.
    ///
    /// - Parameters:
    ///   - address: The address of the page.
    ///   - source: The address from which it is loaded.
    ///   - session: The session of the page.
    /// - Throws: ``Failure``.
    fileprivate func load(_ address: String, from source: String, session: String) async throws {
        state.withLock { $0.value.sources[session] = source }
        let parameters: [String: Any] = ["patterns": [["urlPattern": address]]]
        _ = try await send("Fetch.enable", parameters, session: session)
    }

    /// Continues a request that the browser has paused, without waiting for the result.
    private func resume(_ request: String, session: String) {
        let (id, source) = state.withLock { box in
            box.value.nextID += 1
            return (box.value.nextID, box.value.sources[session])
        }
        var parameters: [String: Any] = ["requestId": request]
        if let source { parameters["url"] = source }
        let message: [String: Any] = [
            "id": id, "method": "Fetch.continueRequest", "params": parameters, "sessionId": session,
        ]
        guard let data = try? JSONSerialization.data(withJSONObject: message) else { return }
        sending.withLock { _ in toBrowser.write(data + Data([0])) }
    }

    private func note(_ method: String, _ parameters: [String: Any], session: String?) {
        switch method {
        case "Fetch.requestPaused":
            guard let session, let request = parameters["requestId"] as? String else { return }
            resume(request, session: session)
        case "Runtime.exceptionThrown":
            let details = parameters["exceptionDetails"] as? [String: Any]
            let exception = details?["exception"] as? [String: Any]
            let text = "\(exception?["description"] ?? details?["text"] ?? "unknown")"
            state.withLock { $0.value.consoleErrors.append("exception: \(text)") }
        case "Runtime.consoleAPICalled" where parameters["type"] as? String == "error":
            let arguments = parameters["args"] as? [[String: Any]] ?? []
            let text = arguments.map { "\($0["value"] ?? $0["description"] ?? "")" }.joined(separator: " ")
            state.withLock { $0.value.consoleErrors.append("console.error: \(text)") }
        default: break
        }
    }
}

/// A page in the browser.
struct Page {
    private let browser: Chromium
    private let session: String

    /// Opens a page.
    ///
    /// - Parameters:
    ///   - address: The address of the page.
    ///   - browser: The browser.
    ///   - script: A script that runs before those of the page.
    ///   - source: The address from which the page is loaded in place of its own; `nil` for its own.
    /// - Throws: ``Chromium/Failure``.
    init(
        _ address: String,
        in browser: Chromium,
        before script: String? = nil,
        loadedFrom source: String? = nil
    ) async throws {
        self.browser = browser
        let target = try await browser.send("Target.createTarget", ["url": "about:blank"])
        let attached = try await browser.send(
            "Target.attachToTarget",
            ["targetId": target["targetId"] ?? "", "flatten": true]
        )
        session = attached["sessionId"] as? String ?? ""
        _ = try await browser.send("Page.enable", session: session)
        _ = try await browser.send("Runtime.enable", session: session)
        _ = try await browser.send(
            "Emulation.setDeviceMetricsOverride",
            ["width": 1400, "height": 1000, "deviceScaleFactor": 1, "mobile": false],
            session: session
        )
        if let script {
            let parameters = ["source": script]
            _ = try await browser.send("Page.addScriptToEvaluateOnNewDocument", parameters, session: session)
        }
        if let source { try await browser.load(address, from: source, session: session) }
        _ = try await browser.send("Page.navigate", ["url": address], session: session)
        if source != nil { _ = try await browser.send("Fetch.disable", session: session) }
    }

    /// Evaluates an expression, and awaits its promise.
    ///
    /// - Throws: ``Chromium/Failure`` with the exception that the page threw.
    func evaluate(_ expression: String) async throws -> Any? {
        let response = try await browser.send(
            "Runtime.evaluate",
            ["expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true],
            session: session
        )
        if let details = response["exceptionDetails"] as? [String: Any] {
            let exception = details["exception"] as? [String: Any]
            throw Chromium.Failure(
                description: "\(exception?["description"] ?? details["text"] ?? details) in \(expression)"
            )
        }
        return (response["result"] as? [String: Any])?["value"]
    }

    func number(_ expression: String) async throws -> Double {
        guard let number = try await evaluate(expression) as? NSNumber else {
            throw Chromium.Failure(description: "\(expression) is no number")
        }
        return number.doubleValue
    }

    func text(_ expression: String) async throws -> String { "\(try await evaluate(expression) ?? "")" }

    func isTrue(_ expression: String) async throws -> Bool {
        (try await evaluate("Boolean(\(expression))") as? NSNumber)?.boolValue == true
    }

    /// Clicks the element that matches a selector, after it is visible and enabled.
    func click(_ selector: String) async throws {
        let quoted = selector.replacingOccurrences(of: "'", with: "\\'")
        try await eventually("\(selector) can be clicked") {
            try await isTrue("(e => e && !e.disabled && e.offsetParent !== null)(document.querySelector('\(quoted)'))")
        }
        _ = try await evaluate("document.querySelector('\(quoted)').click()")
    }

    /// Selects an option of a `select` element, and dispatches the events of a user action.
    func choose(_ value: String, in selector: String) async throws {
        _ = try await evaluate(
            """
            (() => {
              const select = document.querySelector('\(selector)')
              select.value = '\(value)'
              if (select.value !== '\(value)') throw new Error('no option \(value) in \(selector)')
              select.dispatchEvent(new Event('input', {bubbles: true}))
              select.dispatchEvent(new Event('change', {bubbles: true}))
            })()
            """
        )
    }

    /// Changes the width of the window, in pixels.
    func setWidth(_ width: Int) async throws {
        _ = try await browser.send(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": false],
            session: session
        )
    }

    func screenshot(to url: URL) async throws {
        let response = try await browser.send("Page.captureScreenshot", ["format": "png"], session: session)
        guard let text = response["data"] as? String, let data = Data(base64Encoded: text) else {
            throw Chromium.Failure(description: "no screenshot came")
        }
        try data.write(to: url)
    }
}
