import Foundation

/// A copy of the package into which mutations are inserted.
struct Workspace {
    let root: URL
    private let package: URL
    private let scratch: URL
    private let tests: [String]

    /// Creates the copy.
    ///
    /// - Parameters:
    ///   - package: The package to copy.
    ///   - folder: The folder for the copy and its build products; products of an earlier run are reused.
    ///   - mutated: The targets whose sources are not copied, because each of their files is written with its mutations.
    ///   - tests: The test targets to build in the copy.
    /// - Throws: The error of Foundation if a file cannot be read or written.
    init(copying package: URL, to folder: URL, mutated: [String], tests: [String]) throws {
        self.package = package
        self.tests = tests
        root = folder.appending(path: "package")
        scratch = folder.appending(path: "build")
        let files = FileManager.default
        try files.createDirectory(at: root, withIntermediateDirectories: true)
        for name in ["Sources", "Tests"] {
            try Self.mirror(
                package.appending(path: name),
                root.appending(path: name),
                except: name == "Sources" ? Set(mutated) : []
            )
        }
        let manifest = try Data(contentsOf: package.appending(path: "Package.swift"))
        try Self.write(manifest, to: root.appending(path: "Package.swift"))
    }

    /// Copies only files that differ, so that incremental builds see no other changes.
    private static func mirror(_ source: URL, _ copy: URL, except skipped: Set<String> = []) throws {
        let files = FileManager.default
        try files.createDirectory(at: copy, withIntermediateDirectories: true)
        let wanted = Set(try files.contentsOfDirectory(atPath: source.path))
        for name in try files.contentsOfDirectory(atPath: copy.path) where !wanted.contains(name) {
            try files.removeItem(at: copy.appending(path: name))
        }
        for name in wanted.subtracting(skipped) {
            let from = source.appending(path: name)
            let to = copy.appending(path: name)
            if try from.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true {
                try mirror(from, to)
            } else {
                try write(Data(contentsOf: from), to: to)
            }
        }
    }

    private static func write(_ text: String, to file: URL) throws { try write(Data(text.utf8), to: file) }

    private static func write(_ data: Data, to file: URL) throws {
        if (try? Data(contentsOf: file)) != data { try data.write(to: file) }
    }

    /// Copies the files of a target except its sources, and removes those of earlier sources.
    func copyOtherFiles(of target: String, sources: Set<String>) throws {
        let files = FileManager.default
        let (from, to) = (package.appending(path: "Sources/\(target)"), root.appending(path: "Sources/\(target)"))
        let paths = { (folder: URL) -> [String] in
            let walk = files.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            return walk.filter { path in
                var isFolder: ObjCBool = false
                return files.fileExists(atPath: folder.appending(path: path).path, isDirectory: &isFolder)
                    && !isFolder.boolValue
            }
        }
        let wanted = paths(from)
        for path in Set(paths(to)).subtracting(wanted) where path != Self.switchName {
            try files.removeItem(at: to.appending(path: path))
        }
        for path in wanted where !sources.contains("Sources/\(target)/\(path)") {
            let copy = to.appending(path: path)
            try files.createDirectory(at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Self.write(Data(contentsOf: from.appending(path: path)), to: copy)
        }
        for source in sources {
            let folder = root.appending(path: source).deletingLastPathComponent()
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
        }
    }

    /// The name of the file with the function that activates mutations.
    static let switchName = "MutantSwitch.swift"

    /// Returns the source files of a target, as paths relative to the root of the package.
    func sources(of target: String) throws -> [String] {
        let folder = package.appending(path: "Sources/\(target)")
        guard let walk = FileManager.default.enumerator(atPath: folder.path) else { return [] }
        return walk.compactMap { $0 as? String }
            .filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }
            .sorted()
            .map { "Sources/\(target)/\($0)" }
    }

    /// Returns a source file without mutations.
    func source(_ file: String) throws -> String {
        try String(contentsOf: package.appending(path: file), encoding: .utf8)
    }

    /// Writes a file to the copy.
    func write(_ text: String, file: String) throws {
        try Self.write(text, to: root.appending(path: file))
    }

    /// Builds the tests.
    ///
    /// - Returns: The output of the compiler, and whether the build succeeded.
    func build() throws -> (succeeded: Bool, log: String) {
        let log = scratch.deletingLastPathComponent().appending(path: "build.log")
        let result = try Command(
            "swift",
            "build",
            "--build-tests",
            "--package-path",
            root.path,
            "--scratch-path",
            scratch.path,
            "-Xswiftc",
            "-suppress-warnings",
            environment: ["MILLSTREAM_TESTS": tests.joined(separator: ",")]
        ).run(output: log, timeLimit: 3_600)
        return (result == .succeeded, try String(contentsOf: log, encoding: .utf8))
    }

    /// The test bundle.
    var testBundle: URL { scratch.appending(path: "debug/millstreamPackageTests.xctest") }

    /// Returns the source of the function that activates mutations, which is added to each mutated target.
    static func switchSource(mutantCount: Int) -> String {
        """
        import Foundation

        private let activeMutant = Int32(ProcessInfo.processInfo.environment["MUTANT"] ?? "") ?? -1
        nonisolated(unsafe) private let reachedMutants: UnsafeMutablePointer<UInt8>? = {
            guard let path = ProcessInfo.processInfo.environment["MUTANTS_REACHED"] else { return nil }
            let file = unsafe open(path, O_RDWR)
            guard file >= 0 else { return nil }
            guard let memory = unsafe mmap(nil, \(mutantCount), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
                unsafe memory != MAP_FAILED
            else { return nil }
            return unsafe memory.bindMemory(to: UInt8.self, capacity: \(mutantCount))
        }()

        @usableFromInline func \(MutantPlanter.switchName)(_ id: Int32) -> Bool {
            if let reached = unsafe reachedMutants { unsafe reached[Int(id)] = 1 }
            return id == activeMutant
        }

        """
    }
}
