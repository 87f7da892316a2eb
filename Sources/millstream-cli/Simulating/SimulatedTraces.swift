import Foundation
import NetworkConditioning
import ReportFormat

/// The network conditions of simulations, from the values of the option `--trace`.
struct SimulatedTraces {
    /// The paths of the files, and the names of predefined conditions, in the order in which they are simulated.
    let paths: [String]

    /// Finds the files that the values name.
    ///
    /// - Parameters:
    ///   - values: Files, names of conditions, and folders, whose files with the extension json are used in the order of their
    ///     names.
    ///   - failures: The failures of the command, to which folders that cannot be read are added.
    /// - Throws: An error after which no other value is read.
    init(_ values: [String], failures: inout Failures) throws {
        var paths: [String] = []
        for value in values {
            try failures.collect { paths.append(contentsOf: try Self.files(of: value)) }
        }
        self.paths = paths
    }

    /// Reads the conditions.
    ///
    /// Conditions whose names are equal are named after their paths.
    ///
    /// - Parameter failures: The failures of the command, to which files that cannot be read are added.
    /// - Returns: The conditions of the other files, in order.
    /// - Throws: An error after which no other file is read.
    func profiles(failures: inout Failures) throws -> [LinkProfile] {
        var read: [(path: String, profile: LinkProfile)] = []
        for path in paths {
            try failures.collect { read.append((path, try ConditionsFlag.profile(path))) }
        }
        let groups = Dictionary(grouping: read) { $0.profile.name }
        return read.map { path, profile in
            var profile = profile
            if let group = groups[profile.name], group.count > 1 { profile.name = path }
            return profile
        }
    }

    /// Returns the files that a value names.
    ///
    /// The other contents of a folder are counted on standard error, except for hidden files such as `.DS_Store`.
    private static func files(of value: String) throws -> [String] {
        guard isFolder(value) else { return [value] }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: value) else {
            throw Failure(.failed, "file-failed", "the folder \(value) cannot be read")
        }
        let folder = value.hasSuffix("/") ? value : value + "/"
        let subfolders = names.filter { isFolder(folder + $0) && !$0.hasPrefix(".") }
        let traces = names.filter { $0.hasSuffix(".json") && !isFolder(folder + $0) }.sorted()
        let others = names.filter { !$0.hasSuffix(".json") && !$0.hasPrefix(".") && !isFolder(folder + $0) }
        guard !traces.isEmpty else {
            throw Failure(
                .badInput,
                "no-traces",
                "there are no .json files in \(value)",
                hint: subfolders.isEmpty ? nil : "subfolders are not searched; name one with --trace"
            )
        }
        let skipped = [
            subfolders.isEmpty ? nil : QuantityText.count(subfolders.count, "subfolder"),
            others.isEmpty ? nil : QuantityText.count(others.count, "other file"),
        ].compactMap { $0 }
        if !skipped.isEmpty {
            let list = skipped.joined(separator: " and ")
            StandardError.write("note: skipped \(list) in \(value): a trace is a .json file in the folder itself\n")
        }
        return traces.map { folder + $0 }
    }

    private static func isFolder(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}
