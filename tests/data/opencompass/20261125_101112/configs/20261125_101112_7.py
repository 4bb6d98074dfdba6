datasets = [
    dict(
        abbr='sums',
        eval_cfg=dict(evaluator=dict(type='EMEvaluator')),
        infer_cfg=dict(
            inferencer=dict(type='GenInferencer'),
            prompt_template=dict(
                template=dict(round=[
                    dict(prompt='Add: {question}', role='HUMAN'),
                ]),
                type='PromptTemplate'),
            retriever=dict(type='ZeroRetriever')),
        path='sums',
        reader_cfg=dict(input_columns=[
            'question',
        ], output_column='answer'),
        rows=[
            dict(answer=[
                '2',
            ], question='1+1?'),
            dict(answer=[
                '4',
            ], question='2+2?'),
            dict(answer=[
                '6',
            ], question='3+3?'),
            dict(answer=[
                '8',
            ], question='4+4?'),
        ],
        type='Ours'),
    dict(
        abbr='sums_twice',
        eval_cfg=dict(evaluator=dict(type='EMEvaluator')),
        infer_cfg=dict(
            inferencer=dict(type='GenInferencer'),
            prompt_template=dict(
                template=dict(round=[
                    dict(prompt='Add: {question}', role='HUMAN'),
                ]),
                type='PromptTemplate'),
            retriever=dict(type='ZeroRetriever')),
        k=2,
        n=2,
        path='sums_twice',
        reader_cfg=dict(input_columns=[
            'question',
        ], output_column='answer'),
        rows=[
            dict(answer=[
                '2',
            ], question='1+1?'),
            dict(answer=[
                '4',
            ], question='2+2?'),
            dict(answer=[
                '6',
            ], question='3+3?'),
            dict(answer=[
                '8',
            ], question='4+4?'),
        ],
        type='Ours'),
    dict(
        abbr='failed',
        eval_cfg=dict(evaluator=dict(type='Failing')),
        infer_cfg=dict(
            inferencer=dict(type='GenInferencer'),
            prompt_template=dict(
                template=dict(round=[
                    dict(prompt='Add: {question}', role='HUMAN'),
                ]),
                type='PromptTemplate'),
            retriever=dict(type='ZeroRetriever')),
        path='failed',
        reader_cfg=dict(input_columns=[
            'question',
        ], output_column='answer'),
        rows=[
            dict(answer=[
                '2',
            ], question='1+1?'),
            dict(answer=[
                '4',
            ], question='2+2?'),
        ],
        type='Ours'),
    dict(
        abbr='words',
        eval_cfg=dict(evaluator=dict(type='Agreement')),
        infer_cfg=dict(
            inferencer=dict(type='PPLInferencer'),
            prompt_template=dict(
                template=dict(A='{question} is {A}', B='{question} is {B}'),
                type='PromptTemplate'),
            retriever=dict(type='ZeroRetriever')),
        path='words',
        reader_cfg=dict(
            input_columns=[
                'question',
                'A',
                'B',
            ], output_column='answer'),
        rows=[
            dict(A='a', B='', answer='A', question='Word 0'),
            dict(A='a', B='b', answer='B', question='Word 1'),
            dict(A='a', B='bb', answer='A', question='Word 2'),
        ],
        type='Ours'),
]
models = [
    dict(
        abbr='tiny-api',
        batch_size=2,
        generation_kwargs=dict(temperature=0.25),
        max_out_len=77,
        meta_template=dict(round=[
            dict(api_role='HUMAN', role='HUMAN'),
            dict(api_role='BOT', generate=True, role='BOT'),
        ]),
        path='org/tiny',
        type='Scripted'),
    dict(
        abbr='tiny-base',
        batch_size=2,
        generation_kwargs=dict(temperature=0.25),
        max_out_len=77,
        path='org/tiny-base',
        type='Scripted'),
    dict(
        abbr='tiny-rollout',
        batch_size=2,
        generation_kwargs=dict(temperature=0.25),
        max_out_len=77,
        meta_template=dict(round=[
            dict(api_role='HUMAN', role='HUMAN'),
            dict(api_role='BOT', generate=True, role='BOT'),
        ]),
        path='org/tiny',
        rollout=True,
        type='Scripted'),
]
