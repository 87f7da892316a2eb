import TestSamples
import Testing

/// Tests what the console shows beside the video: causes of failures, networks, storage, segments and other processes.
///
/// These tests run beside those of ``ConsoleTests``.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples"),
    .enabled(if: Chromium.executable != nil, "there is no Chromium")
)
struct ConsoleStatusTests: ConsoleTesting {
    typealias Stage = ConsoleStage
}
