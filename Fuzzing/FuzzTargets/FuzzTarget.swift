/// A fuzz target: a parser of untrusted input together with the parameters of a fuzzer.
///
/// The seeds of a target are in `Fuzzing/Seeds/NAME`, and its optional dictionary is `Fuzzing/Dictionaries/NAME.dict`.
/// To add a parser, add it to one of the tables: `FuzzTarget.formats` for parsers without side effects,
/// `FuzzTarget.streams` for those that require transports, storage or the engine. `Scripts/fuzz` and the replay in the
/// test suite run every entry of the tables.
package struct FuzzTarget: Sendable {
    /// The name on the command line and of the folder with the seeds.
    package let name: String
    /// A short description of the kind of input.
    package let summary: String
    /// The maximum length of an input, in bytes.
    package let maximumLength: Int
    /// The number of mutated inputs of a replay; smaller for slow targets.
    package let replayCount: Int
    /// The other targets whose seeds are used as well.
    package let furtherSeeds: [String]
    /// The folder of the shared corpus, named by `MILLSTREAM_SHARED`, whose files are used as seeds as well.
    package let sharedSeeds: String?
    /// Parses an input and checks the result; a failed check traps.
    package let run: @Sendable ([UInt8]) -> Void

    /// Creates a target.
    package init(
        _ name: String,
        _ summary: String,
        maximumLength: Int = 4_096,
        replayCount: Int = 400,
        furtherSeeds: [String] = [],
        sharedSeeds: String? = nil,
        run: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.name = name
        self.summary = summary
        self.maximumLength = maximumLength
        self.replayCount = replayCount
        self.furtherSeeds = furtherSeeds
        self.sharedSeeds = sharedSeeds
        self.run = run
    }

    /// A target that traps on inputs that begin with `trap`, for tests of the programs that run fuzz targets.
    package static let trap = FuzzTarget("trap", "a test of the fuzzer") { bytes in
        check(!bytes.starts(with: "trap".utf8), "the input begins with trap")
    }

    /// The parsers without side effects, in listing order.
    package static let formats: [FuzzTarget] =
        playlistTargets + dashTargets + mediaTargets + subtitleTargets + textTargets
}

/// Traps if a property of the result does not hold, in release builds as well.
package func check(
    _ condition: @autoclosure () -> Bool,
    _ message: @autoclosure () -> String = "a property of the result does not hold",
    file: StaticString = #file,
    line: UInt = #line
) {
    // In release builds, `precondition` prints no message.
    if !condition() { fatalError(message(), file: file, line: line) }
}
